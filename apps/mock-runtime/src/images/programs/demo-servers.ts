import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Address } from '@tinkernetes/vnet';
import type { Process } from '../../kernel/process';
import { serveHttp } from './http-listener';

/** Small web servers that tutorials deploy. */

interface Exchange {
  process: Process;
  request: IncomingMessage;
  client: Address;
}

type Reply = string | { status: number; text: string };
type Answer = (exchange: Exchange) => Reply | Promise<Reply>;

async function serve(process: Process, port: number, answer: Answer): Promise<number> {
  serveHttp(process, port, async (request, response: ServerResponse, client) => {
    const made = await answer({ process, request, client });
    const { status, text } = typeof made === 'string' ? { status: 200, text: made } : made;
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(text);
  });
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
}

const flag = ({ argv }: Process, name: string): string | undefined => {
  const at = argv.findIndex((arg) => arg.replace(/^--?/, '').split('=')[0] === name);
  return at < 0 ? undefined : argv[at]?.includes('=') ? argv[at]?.replace(/^[^=]*=/, '') : argv[at + 1];
};

/** CPU time that a request of the autoscaling walkthrough costs: about what its loop of square roots takes. */
const requestCostMs = 10;

/** registry.k8s.io/hpa-example: each request costs CPU time. */
export const hpaExample = (process: Process): Promise<number> =>
  serve(process, 80, () => {
    process.machine.cpu.spend(requestCostMs);
    return 'OK!';
  });

/** hashicorp/http-echo `-text=… -listen=:5678`. */
export const httpEcho = async (process: Process): Promise<number> => {
  const text = flag(process, 'text') ?? process.env.ECHO_TEXT;
  if (text === undefined) {
    await process.complain('Missing -text option!\n');
    return 127;
  }
  const port = Number((flag(process, 'listen') ?? ':5678').split(':').pop());
  await process.print(`[INFO] server is listening on :${port}\n`);
  return serve(process, port, ({ request }) => (request.url === '/health' ? '{"status":"ok"}' : `${text}\n`));
};

/** google-samples/hello-app: which version answers, and from where. */
export const helloApp =
  (version: string) =>
  (process: Process): Promise<number> =>
    serve(
      process,
      Number(process.env.PORT ?? 8080),
      () => `Hello, world!\nVersion: ${version}\nHostname: ${process.machine.hostname}\n`,
    );

/** google-samples/node-hello */
export const nodeHello = (process: Process): Promise<number> =>
  serve(process, 8080, () => 'Hello Kubernetes!');

/** traefik/whoami: the request as it arrived. */
export const whoami = (process: Process): Promise<number> =>
  serve(
    process,
    Number(flag(process, 'port') ?? process.env.WHOAMI_PORT_NUMBER ?? 80),
    ({ request, client }) => {
      const headers = Object.entries(request.headers)
        .filter(([name]) => name !== 'host')
        .map(([name, value]) => `${headerName(name)}: ${String(value)}\n`);
      const name = flag(process, 'name');
      return [
        name === undefined ? '' : `Name: ${name}\n`,
        `Hostname: ${process.machine.hostname}\n`,
        ...process.net.addresses().map((address) => `IP: ${address}\n`),
        `RemoteAddr: ${client.host}:${client.port}\n`,
        `${request.method} ${request.url} HTTP/${request.httpVersion}\nHost: ${request.headers.host ?? ''}\n`,
        ...headers,
      ].join('');
    },
  );

const headerName = (name: string): string => name.replace(/(?:^|-)\w/g, (letter) => letter.toUpperCase());

/** google-samples/kubernetes-bootcamp: the application of "Learn Kubernetes Basics". */
export const bootcamp =
  (version: string) =>
  async (process: Process): Promise<number> => {
    const { hostname } = process.machine;
    let requests = 0;
    const started = new Date(process.clock.now());
    await process.print(
      `Kubernetes Bootcamp App Started At: ${started.toISOString()} | Running On:  ${hostname} \n\n`,
    );
    return serve(process, 8080, async () => {
      requests += 1;
      const seconds = (process.clock.now() - started.getTime()) / 1000;
      await process.print(
        `Running On: ${hostname} | Total Requests: ${requests} | App Uptime: ${seconds} seconds | Log Time: ${new Date(process.clock.now()).toISOString()}\n`,
      );
      return `Hello Kubernetes bootcamp! | Running on: ${hostname} | v=${version}\n`;
    });
  };

/** registry.k8s.io/echoserver and its successor kicbase/echo-server: what the server saw of the request. */
export const echoServer = (process: Process): Promise<number> =>
  serve(process, Number(process.env.PORT ?? 8080), ({ request, client }) => {
    const headers = Object.entries(request.headers).map(([name, value]) => `\t${name}=${String(value)}\n`);
    return [
      `\n\nHostname: ${process.machine.hostname}\n\nPod Information:\n`,
      ...['POD_NAME', 'POD_NAMESPACE', 'POD_IP', 'NODE_NAME']
        .filter((name) => process.env[name] !== undefined)
        .map((name) => `\t${name.toLowerCase().replaceAll('_', ' ')}:\t${process.env[name]}\n`),
      `\nServer values:\n\tserver_version=nginx: 1.14.2 - lua: 10015\n`,
      `\nRequest Information:\n\tclient_address=${client.host}\n\tmethod=${request.method}\n\treal path=${request.url}\n`,
      `\tquery=${(request.url ?? '').split('?')[1] ?? ''}\n\trequest_version=${request.httpVersion}\n\trequest_scheme=http\n`,
      `\trequest_uri=http://${request.headers.host ?? ''}${request.url}\n\nRequest Headers:\n`,
      ...headers,
      '\nRequest Body:\n\t-no body in request-\n\n',
    ].join('');
  });

/** nginxdemos/hello:plain-text. */
export const nginxHello = (process: Process): Promise<number> =>
  serve(process, 80, ({ request }) =>
    [
      `Server address: ${process.net.addresses()[0] ?? ''}:80`,
      `Server name: ${process.machine.hostname}`,
      `Date: ${new Date(process.clock.now()).toUTCString()}`,
      `URI: ${request.url}`,
      '',
    ].join('\n'),
  );

/** registry.k8s.io/serve_hostname */
export const serveHostname = (process: Process): Promise<number> =>
  serve(process, 9376, () => process.machine.hostname);

/** registry.k8s.io/goproxy: a proxy that nobody asks for anything but whether it listens. */
export const goproxy = (process: Process): Promise<number> =>
  serve(process, 8080, () => ({
    status: 500,
    text: 'This is a proxy server. Does not respond to non-proxy requests.\n',
  }));

/** fluentd_elasticsearch/fluentd of the DaemonSet tutorial, which collects nothing here. */
export const fluentd = async (process: Process): Promise<number> => {
  await process.print(
    `${new Date(process.clock.now()).toISOString()} [info]: fluentd is emulated: it collects nothing, and ends when it is told to\n`,
  );
  await process.untilSignal('SIGTERM', 'SIGINT');
  return 0;
};
