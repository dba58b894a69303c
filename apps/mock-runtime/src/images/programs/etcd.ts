import { createServer } from 'node:http';
import type { Process } from '../../kernel/process';
import { serveGrpcHealth } from './grpc-health';

const flag = ({ argv }: Process, name: string): string | undefined => {
  const at = argv.findIndex((arg) => arg.replace(/^--?/, '').split('=')[0] === name);
  return at < 0 ? undefined : (argv[at]?.split('=')[1] ?? argv[at + 1]);
};

/** etcd as far as probes see it: its ports are open, `/health` and the gRPC health service say that it serves. It keeps no data. */
export async function etcd(process: Process): Promise<number> {
  const url =
    flag(process, 'listen-client-urls') ?? process.env.ETCD_LISTEN_CLIENT_URLS ?? 'http://localhost:2379';
  const port = Number(/:(\d+)/.exec(url.split(',')[0] ?? '')?.[1] ?? 2379);
  const http = createServer((request, response) => {
    const answers: Readonly<Record<string, string>> = {
      '/health': '{"health":"true","reason":""}',
      '/version': '{"etcdserver":"3.5.1","etcdcluster":"3.5.0"}',
    };
    const answer = answers[request.url ?? ''];
    response
      .writeHead(answer ? 200 : 404, { 'Content-Type': 'application/json' })
      .end(answer ?? '404 page not found\n');
  });
  await serveGrpcHealth(process, {
    port,
    isServing: () => true,
    other: (stream) => http.emit('connection', stream),
  });
  const log = (msg: string) =>
    process.complain(
      `${JSON.stringify({ level: 'info', ts: new Date(process.clock.now()).toISOString(), msg })}\n`,
    );
  await log('serving client requests; this etcd is emulated, and keeps no data');
  await process.untilSignal('SIGTERM', 'SIGINT');
  await log('received signal; shutting down');
  return 0;
}
