// Many watchers in a process of their own: what they spend is neither the server's nor the writers'.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('watch-counter.mjs', import.meta.url));

/** Resolves when the server answers all `count` of them. `access` as `readKubeconfig` returns it. */
export async function startWatchers({ server, token, tls }, { path, count }) {
  const child = fork(program);
  const { hostname: host, port } = new URL(server);
  const text = (pem) => pem && String(pem);
  const material = { ca: text(tls.ca), cert: text(tls.cert), key: text(tls.key) };
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = async () => {
    const [message] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => [{ error: `the watchers' process ended with ${code}` }]),
    ]);
    if (message.error) throw new Error(message.error);
    return message;
  };
  child.send({ watch: { host, port, tls: material, headers, path, count } });
  await answer();
  return {
    pid: child.pid,
    /** Resolves when so many events have come to all watchers together. */
    received: (events) => {
      child.send({ expect: events });
      return answer();
    },
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
