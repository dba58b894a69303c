// One change after the other on a recorded request; pure, so that the same numbers give the same request again.

/**
 * Turns numbers and changes into what is sent: `{ method, path, headers, body: Buffer | undefined }`.
 * `corpus` holds `requests` and `protobufs`; `variables` fills in `${ns}` and the like.
 */
export function toRequest({ from, mutations }, { requests, protobufs }, variables) {
  const recorded = requests[from % requests.length];
  const request = {
    ...recorded,
    headers: { ...recorded.headers },
    body: recorded.body === undefined ? undefined : safeCopy(recorded.body),
  };
  for (const mutation of mutations) changes[mutation.do](request, mutation, { requests, protobufs });
  const body = bytesOf(request, variables);
  return {
    method: request.method,
    path: encoded(variables(request.path)),
    headers: Object.fromEntries(
      Object.entries(request.headers)
        .filter(([, text]) => text !== null)
        .map(([name, text]) => [name, variables(text)]),
    ),
    body,
  };
}

/** Bytes that a change of bytes has made, or else the text of the body. */
function bytesOf({ bytes, text, body }, variables) {
  if (bytes) return bytes;
  const written = text ?? (body === undefined ? undefined : JSON.stringify(body));
  return written === undefined ? undefined : Buffer.from(variables(written));
}

const encoded = (path) =>
  path.replace(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character.toWellFormed?.() ?? '?'));

/** Members are defined, never assigned: `__proto__` is a key like any other. */
function define(target, key, value) {
  Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}

function safeCopy(value) {
  if (Array.isArray(value)) return value.map(safeCopy);
  if (value === null || typeof value !== 'object') return value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) define(copy, key, safeCopy(member));
  return copy;
}

/** The parent and key that a list of numbers leads to; undefined when the body is no object. */
function find(body, place) {
  let parent;
  let key;
  let current = body;
  for (const number of place) {
    if (current === null || typeof current !== 'object') break;
    const keys = Object.keys(current);
    if (keys.length === 0) break;
    parent = current;
    key = keys[number % keys.length];
    current = Object.getOwnPropertyDescriptor(current, key).value;
  }
  return parent === undefined ? undefined : { parent, key, current };
}

const onText = (request, change) => {
  request.bytes = change(bytesOf(request, (text) => text) ?? Buffer.alloc(0));
};

const insertAt = (bytes, at, inserted) =>
  Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)]);

/** After which bracket of that kind, counted by a number. */
function positionAfter(bytes, bracket, number) {
  const positions = [];
  for (let at = bytes.indexOf(bracket); at >= 0; at = bytes.indexOf(bracket, at + 1)) positions.push(at + 1);
  return positions.length === 0 ? 0 : positions[number % positions.length];
}

const changes = {
  set(request, { place, value }) {
    const found = find(request.body, place);
    if (found) define(found.parent, found.key, safeCopy(value));
    else if (request.body !== undefined) request.body = safeCopy(value);
  },
  delete(request, { place }) {
    const found = find(request.body, place);
    if (!found) return;
    if (Array.isArray(found.parent)) found.parent.splice(Number(found.key), 1);
    else delete found.parent[found.key];
  },
  add(request, { place, key, value }) {
    const { current = request.body } = find(request.body, place) ?? {};
    if (Array.isArray(current)) current.push(safeCopy(value));
    else if (current !== null && typeof current === 'object') define(current, key, safeCopy(value));
  },
  rename(request, { place, key }) {
    const found = find(request.body, place);
    if (!found || Array.isArray(found.parent)) return;
    delete found.parent[found.key];
    define(found.parent, key, found.current);
  },
  repeat(request, { place }) {
    const found = find(request.body, place);
    if (Array.isArray(found?.parent)) found.parent.push(safeCopy(found.current));
    else if (Array.isArray(found?.current) && found.current.length > 0)
      found.current.push(safeCopy(found.current[0]));
  },
  duplicateKey(request, { at, key, value }) {
    const member = `${JSON.stringify(key)}:${JSON.stringify(value)},`;
    onText(request, (bytes) => insertAt(bytes, positionAfter(bytes, '{', at), member));
  },
  truncate(request, { at }) {
    onText(request, (bytes) => bytes.subarray(0, bytes.length === 0 ? 0 : at % bytes.length));
  },
  overwrite(request, { bytes: written }) {
    onText(request, (bytes) => {
      const changed = Buffer.from(bytes);
      for (const [at, byte] of written) if (changed.length > 0) changed[at % changed.length] = byte;
      return changed;
    });
  },
  nest(request, { at, depth, what }) {
    onText(request, (bytes) => insertAt(bytes, positionAfter(bytes, ':', at), what.repeat(depth)));
  },
  text(request, { text }) {
    request.bytes = Buffer.from(text);
  },
  oversize(request, { bytes: size }) {
    onText(request, (bytes) => insertAt(bytes, positionAfter(bytes, ':', 1), `"${'x'.repeat(size)}"`));
  },
  contentType(request, { type }) {
    request.headers['content-type'] = type;
  },
  accept(request, { type }) {
    request.headers.accept = type;
  },
  header(request, { name, value }) {
    request.headers[name] = value;
  },
  query(request, { name, value }) {
    request.path += `${request.path.includes('?') ? '&' : '?'}${name}=${value}`;
  },
  segment(request, { at, segment }) {
    const [path, query] = split(request.path);
    const parts = path.split('/');
    parts[1 + (at % Math.max(1, parts.length - 1))] = segment;
    request.path = parts.join('/') + query;
  },
  append(request, { segment }) {
    const [path, query] = split(request.path);
    request.path = `${path}/${segment}${query}`;
  },
  shorten(request) {
    const [path, query] = split(request.path);
    request.path = (path.slice(0, path.lastIndexOf('/')) || '/') + query;
  },
  method(request, { method }) {
    request.method = method;
  },
  swapBody(request, { from }, { requests }) {
    const { body } = requests[from % requests.length];
    if (body !== undefined) request.body = safeCopy(body);
  },
  protobuf(request, { from }, { protobufs }) {
    if (protobufs.length === 0) return;
    const { path, base64 } = protobufs[from % protobufs.length];
    Object.assign(request, { method: 'POST', path, bytes: Buffer.from(base64, 'base64') });
    request.headers['content-type'] = 'application/vnd.kubernetes.protobuf';
  },
  protobufBytes(request, { bytes }, corpus) {
    changes.protobuf(request, { from: bytes[0][0] }, corpus);
    changes.overwrite(request, { bytes });
  },
};

function split(path) {
  const at = path.indexOf('?');
  return at < 0 ? [path, ''] : [path.slice(0, at), path.slice(at)];
}
