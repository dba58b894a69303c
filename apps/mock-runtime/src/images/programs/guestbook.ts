import type { Process } from '../../kernel/process';
import { spawn } from '../../kernel/spawn';
import { resolveHost } from '../../net/resolver';
import { serveHttp } from './http-listener';
import { Connection } from './redis-cli';

const page = `<!DOCTYPE html>
<html>
<head><title>Guestbook</title></head>
<body>
<h1>Guestbook</h1>
<form><input name="message" placeholder="Messages"> <button>Submit</button></form>
<ul></ul>
<script>
const show = (text) => {
  document.querySelector('ul').replaceChildren(...text.split(',').filter(Boolean).map((message) => {
    const item = document.createElement('li');
    item.textContent = message;
    return item;
  }));
  return text;
};
const ask = (query) => fetch('guestbook.php?' + new URLSearchParams(query)).then((response) => response.json());
const load = () => ask({ cmd: 'get', key: 'messages' }).then(({ data }) => show(data));
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { message } = event.target.elements;
  const value = (await load()) + ',' + message.value;
  message.value = '';
  await ask({ cmd: 'set', key: 'messages', value });
  show(value);
});
load();
</script>
</body>
</html>
`;

/** google-samples/gb-frontend: the guestbook's page, which writes to one redis and reads from others. */
export async function guestbookFrontend(process: Process): Promise<number> {
  const isFromEnv = process.env.GET_HOSTS_FROM === 'env';
  const hosts = {
    leader: (isFromEnv && process.env.REDIS_LEADER_SERVICE_HOST) || 'redis-leader',
    follower: (isFromEnv && process.env.REDIS_FOLLOWER_SERVICE_HOST) || 'redis-follower',
  };
  serveHttp(process, 80, async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://guestbook');
    if (url.pathname !== '/guestbook.php') {
      const isPage = url.pathname === '/' || url.pathname === '/index.html';
      response.writeHead(isPage ? 200 : 404, {
        'Content-Type': 'text/html',
        Server: 'Apache/2.4.65 (Debian)',
      });
      return void response.end(isPage ? page : '');
    }
    const of = (name: string) => url.searchParams.get(name) ?? '';
    response.setHeader('Content-Type', 'application/json');
    try {
      if (of('cmd') === 'set') {
        await ask(process, hosts.leader, ['SET', of('key'), of('value')]);
        response.end('{"message": "Updated"}');
      } else response.end(JSON.stringify({ data: await ask(process, hosts.follower, ['GET', of('key')]) }));
    } catch (error) {
      await process.complain(`PHP Fatal error: ${(error as Error).message}\n`);
      response.writeHead(500).end();
    }
  });
  await process.untilSignal('SIGTERM', 'SIGINT', 'SIGWINCH');
  return 0;
}

async function ask(process: Process, name: string, command: readonly string[]): Promise<string> {
  const host = await resolveHost(process, name);
  const { stream } = await process.net.connect({ host, port: 6379, signal: process.signal });
  try {
    const answer = await new Connection(stream).ask(command);
    if (answer instanceof Error) throw answer;
    return String(answer ?? '');
  } finally {
    stream.destroy();
  }
}

/** google-samples/gb-redis-follower: follows the guestbook's leader. */
export const guestbookFollower = (process: Process): Promise<number> =>
  spawn.become(process, [
    'redis-server',
    '--replicaof',
    process.env.REDIS_LEADER_SERVICE_HOST ?? 'redis-leader',
    '6379',
  ]);
