import { createServer, request as httpRequest, Agent, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import { LoopbackSocket } from './loopback-socket';

class PairAgent extends Agent {
  connections = 0;
  constructor(private readonly server: Server) {
    super({ keepAlive: true, maxSockets: 2 });
  }
  override createConnection(): LoopbackSocket {
    this.connections++;
    const { client, server } = LoopbackSocket.connection(1, { certificate: undefined, authorized: false });
    this.server.emit('connection', server);
    return client;
  }
}

describe('HTTP over a connection within the process', () => {
  let server: Server;
  let agent: PairAgent;
  let aborted: Promise<void>;

  beforeEach(() => {
    let noteAborted: () => void = () => undefined;
    aborted = new Promise((resolve) => (noteAborted = resolve));
    server = createServer((request, response) => {
      if (request.url === '/echo') return void request.pipe(response);
      if (request.url === '/break') return void response.write('some', () => response.destroy());
      response.on('close', noteAborted);
      response.write('first\n');
    });
    agent = new PairAgent(server);
  });
  afterEach(() => {
    agent.destroy();
    server.close();
  });

  const open = async (path: string, body?: Buffer): Promise<IncomingMessage> => {
    const request = httpRequest({ agent, path, method: body ? 'POST' : 'GET', host: 'x' });
    request.end(body);
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
  const read = async (response: IncomingMessage): Promise<Buffer> => Buffer.concat(await response.toArray());

  it('carries bodies larger than its buffers both ways, on connections that are kept', async () => {
    const body = Buffer.alloc(3_000_000, 'tinkernetes');
    for (let i = 0; i < 3; i++) expect((await read(await open('/echo', body))).equals(body)).toBe(true);
    expect(agent.connections).toBe(1);
  });

  it('carries requests beside each other', async () => {
    const bodies = Array.from({ length: 20 }, (_, i) => Buffer.from(`body ${i}`));
    const echoed = await Promise.all(bodies.map(async (body) => read(await open('/echo', body))));
    expect(echoed.map(String)).toEqual(bodies.map(String));
    expect(agent.connections).toBe(2);
  });

  it('tells the server that a client has gone', async () => {
    const response = await open('/watch');
    expect(String(await once(response, 'data'))).toBe('first\n');
    response.destroy();
    await aborted;
  });

  it('tells the client that a server has gone, and delivers what came before', async () => {
    const response = await open('/break');
    let text = '';
    response.on('data', (chunk: Buffer) => (text += String(chunk)));
    const [error] = (await once(response, 'error')) as [NodeJS.ErrnoException];
    expect([text, error.code]).toEqual(['some', 'ECONNRESET']);
  });

  it('does not outrun a reader', async () => {
    const { client, server: end } = LoopbackSocket.connection(1, {
      certificate: undefined,
      authorized: false,
    });
    let written = 0;
    while (client.write(Buffer.alloc(16 * 1024))) written++;
    expect(written).toBeLessThan(8);
    let received = 0;
    end.on('data', (chunk: Buffer) => (received += chunk.length));
    await once(client, 'drain');
    expect(received).toBeGreaterThan(0);
    client.destroy();
    await once(end, 'end');
    end.destroy();
  });
});
