// What is mutated: the requests of the recordings, and protobuf bodies of the objects that they make.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const scenarios = join(dirname(fileURLToPath(import.meta.url)), '../replay/scenarios');

/** What changes how the server answers everybody else is tried only, so that later requests mean what they say. */
const triedOnly = /^\/apis\/(apiregistration\.k8s\.io|admissionregistration\.k8s\.io)\//;

/**
 * All recorded requests as `{ method, path, headers, body?, text? }`; `${ns}` and `${id}` are still in them. A body is
 * JSON-shaped, a text is sent as it is.
 */
export function readRequests() {
  return readdirSync(scenarios)
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(join(scenarios, file), 'utf8')).steps)
    .flatMap((step) => (step.do ? [step.do] : step.watch ? [{ method: 'GET', ...step.watch }] : []))
    .map(({ method, path, headers = {}, body, raw, fill }) => ({
      method,
      path: method !== 'GET' && triedOnly.test(path) ? withDryRun(path) : path,
      headers: withContentType(headers, body ?? raw),
      ...(body === undefined ? undefined : { body }),
      ...(raw === undefined && !fill ? undefined : { text: raw ?? `${fill.prefix}${fill.suffix}` }),
    }));
}

const withDryRun = (path) => `${path}${path.includes('?') ? '&' : '?'}dryRun=All`;

const withContentType = (headers, body) =>
  body === undefined || 'content-type' in headers
    ? headers
    : { 'content-type': 'application/json', ...headers };

/** The server's own answers to recorded creates, as protobuf: bodies that it must be able to read again. */
export async function readProtobufBodies(client, requests, variables) {
  const creates = requests.filter(({ method, body }) => method === 'POST' && body?.kind);
  const bodies = [];
  for (const { path, body } of creates) {
    const answer = await client.send({
      method: 'POST',
      path: variables(withDryRun(path)),
      headers: { 'content-type': 'application/json', accept: 'application/vnd.kubernetes.protobuf' },
      body: Buffer.from(variables(JSON.stringify(body))),
    });
    if (answer.status === 201 && answer.body.subarray(0, 4).equals(Buffer.from('k8s\0')))
      bodies.push({ path, base64: answer.body.toString('base64') });
  }
  return bodies;
}
