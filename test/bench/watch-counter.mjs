// A process of its own that watches on raw TLS connections and counts what comes, so that neither HTTP nor decoding nor
// the clients that write share its event loop. Forked by WatchCounter; `process.send` tells of it.
import tls from 'node:tls';

/** How a watch event in JSON ends; nothing else in HTTP's chunks does. */
const end = Buffer.from('}\n');
const [brace, newline] = end;
/** All sockets read into the same bytes, one after the other: nothing is left to collect. */
const buffer = Buffer.alloc(64 * 1024);
const opening = 10;

let received = 0;
let expected = Infinity;

function tell() {
  if (received < expected) return;
  expected = Infinity;
  process.send({ received });
}

/** Resolves when the server has begun to answer. */
function open({ host, port, tls: material, headers, path }) {
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    let last = 0;
    const read = (length) => {
      if (!isAnswered) {
        isAnswered = true;
        const status = buffer.toString('latin1', 0, Math.min(length, 15));
        if (status.startsWith('HTTP/1.1 200')) resolve();
        else reject(new Error(`a watch was answered with ${status}`));
      }
      const bytes = buffer.subarray(0, length);
      if (last === brace && bytes[0] === newline) received++;
      for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 2)) received++;
      last = bytes[length - 1];
      tell();
      return true;
    };
    const socket = tls.connect({
      ...material,
      host,
      port,
      onread: { buffer, callback: read },
    });
    socket.on('error', reject);
    const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  });
}

async function watch({ count, ...options }) {
  // Some at a time: each needs a TLS handshake.
  for (let opened = 0; opened < count; opened += opening) {
    const several = Math.min(opening, count - opened);
    await Promise.all(Array.from({ length: several }, () => open(options)));
  }
  process.send({ opened: count });
}

process.on('message', (message) => {
  if (message.watch) {
    watch(message.watch).catch((error) => process.send({ error: error.message }));
  } else {
    expected = message.expect;
    tell();
  }
});
process.on('disconnect', () => process.exit(0));
