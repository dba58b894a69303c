// Mutated recordings against a server: which of its answers are no answer to a client's mistake.
import protobuf from 'protobufjs/minimal.js';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import fc from 'fast-check';
import { mutatedRequest } from './arbitraries.mjs';
import { Client } from './client.mjs';
import { readProtobufBodies, readRequests } from './corpus.mjs';
import { Integrity } from './integrity.mjs';
import { toRequest } from './mutate.mjs';

const requestsPerBatch = 300;
const { Reader } = protobuf;
const atOnce = 16;

/** 5xx that the recordings of a real server show for a client's mistake; they are as they are. */
const recordedServerErrors = [
  /failed to create typed patch object/,
  /strconv\.ParseUint: parsing/,
  /resourceVersion should not be set on objects to be created/,
  /the spec replicas field "[^"]*" does not exist/,
  /Timeout: Too large resource version/,
  /unknown patch type: .* in map: /,
  /does not contain declared merge key/,
  /^The order in patch list:|^list element types are not identical: |^merging lists cannot yet be specified/,
  /^expected a (\[\]|map\[string\])interface \{\}, but received a |^value for key \d+ is not a map$/,
  /^unable to find api field in struct |^no elements in any of the given slices$/,
  /target\.kind: Unsupported value: |target\.name: Required value/,
];

/**
 * Sends `count` requests, in batches; each batch is followed by a look at everything that is stored.
 * `server`: `{ url, token, running(), stderr() }`. Gives fast-check's details of the run.
 */
export async function fuzz({ server, count, seed, path, timeLimitMs, log }) {
  const client = new Client(server);
  const requests = readRequests();
  const integrity = new Integrity(client);
  const rounds = new Rounds(client);
  const statuses = new Map();
  try {
    await integrity.remember();
    const first = await rounds.begin();
    const protobufs = await readProtobufBodies(client, requests, first);
    const corpus = { requests, protobufs };
    let sent = 0;
    const batch = async (mutated) => {
      const variables = await rounds.begin();
      const toSend = mutated.map((one) => toRequest(one, corpus, variables));
      const faults = await sendAll(client, toSend, statuses);
      sent += toSend.length;
      if (!server.running()) throw new Error(`the server is gone:\n${server.stderr()}`);
      if (faults.length > 0) throw new Error(faults.join('\n'));
      const stored = await integrity.check();
      await integrity.clean(stored.left);
      if (stored.faults.length > 0)
        throw new Error(`after ${toSend.length} requests:\n${stored.faults.join('\n')}`);
      if (sent % 2000 < requestsPerBatch) log(`${sent} requests`);
    };
    let hasFailed = false;
    const property = fc.asyncProperty(batches(), async (mutated) => {
      if (sent >= count && !hasFailed) return;
      try {
        await batch(mutated);
      } catch (error) {
        // Making it smaller takes its time: what it is about is said at once.
        if (!hasFailed) log(`after ${sent} requests: ${String(error.message).slice(0, 2000)}`);
        hasFailed = true;
        throw error;
      }
    });
    const details = await fc.check(property, {
      // Batches have any length; these are more than enough.
      numRuns: Math.ceil((4 * count) / requestsPerBatch),
      seed,
      path,
      interruptAfterTimeLimit: timeLimitMs,
    });
    return { details, sent, statuses, show: (batch) => show(batch, corpus, first) };
  } finally {
    client.close();
  }
}

const batches = () => fc.array(mutatedRequest, { minLength: 1, maxLength: requestsPerBatch, size: 'max' });

/** Each batch has a namespace and an id of its own, so that what one leaves behind is no business of the next. */
class Rounds {
  #number = 0;

  constructor(client) {
    this.client = client;
  }

  async begin() {
    const id = `fuzz${++this.#number}`;
    await this.client.json('POST', '/api/v1/namespaces', { metadata: { name: id } });
    await this.client.json('POST', `/api/v1/namespaces/${id}/serviceaccounts`, {
      metadata: { name: 'default' },
    });
    return (text) => text.replace(/\$\{(\w+)\}/g, id);
  }
}

async function sendAll(client, requests, statuses) {
  const faults = [];
  const waiting = [...requests];
  const worker = async () => {
    for (let request = waiting.shift(); request; request = waiting.shift()) {
      const answer = await client.send(request);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const fault = faultOf(request, await withMessage(client, request, answer));
      if (fault) faults.push(`${fault}: ${describe(request)}`);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return faults;
}

/** What a HEAD was refused for is told only to a GET. */
const withMessage = (client, request, answer) =>
  request.method === 'HEAD' && answer.status >= 500 ? client.send({ ...request, method: 'GET' }) : answer;

const bodyLimit = 3 * 1024 * 1024;

function faultOf(request, { status, body, error }) {
  // The server need not read to the end what is too long.
  if (status === 0) return (request.body?.length ?? 0) > bodyLimit ? undefined : `no answer (${error})`;
  if (status < 500) return undefined;
  const text = body.toString();
  const message = messageOf(body);
  return recordedServerErrors.some((pattern) => pattern.test(message))
    ? undefined
    : `${status} ${text.slice(0, 400)}`;
}

/** A Status' message, in whatever form it was asked for. */
function messageOf(body) {
  if (body.subarray(0, 4).equals(protobufPrefix)) {
    return Buffer.from(fieldOf(fieldOf(body.subarray(4), 2), 3)).toString();
  }
  const text = body.toString();
  try {
    return String(parseYaml(text)?.message);
  } catch (error) {
    if (error instanceof YAMLParseError) return text;
    throw error;
  }
}

const protobufPrefix = Buffer.from('k8s\0');

function fieldOf(bytes, number) {
  const reader = Reader.create(bytes);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === (number << 3) + 2) return reader.bytes();
    reader.skipType(tag & 7);
  }
  return new Uint8Array();
}

const describe = ({ method, path, headers, body }) =>
  `${method} ${path.slice(0, 500)} ${JSON.stringify(headers)} ${JSON.stringify(body?.subarray(0, 3000).toString())}`;

/** The shrunk requests, in a form that can be read and sent again. */
const show = (batch, corpus, variables) =>
  batch.map((one) => describe(toRequest(one, corpus, variables))).join('\n');
