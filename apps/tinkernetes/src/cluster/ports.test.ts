import { createServer, type Server } from 'node:net';
import { chooseApiPort } from './ports';

const bind = '127.0.0.1';
const listen = (): Promise<{ server: Server; port: number }> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, bind, () => resolve({ server, port: (server.address() as { port: number }).port }));
  });

it('takes the port of the last start again when any is wanted', async () => {
  const { server, port } = await listen();
  server.close();
  expect(await chooseApiPort({ bind, asked: 0, previous: port })).toBe(port);
});

it('takes another free port when that of the last start is busy', async () => {
  const { server, port } = await listen();
  const chosen = await chooseApiPort({ bind, asked: 0, previous: port });
  server.close();
  expect(chosen).not.toBe(port);
  expect(chosen).toBeGreaterThan(0);
});

it('refuses a busy port that was asked for, and says what to do', async () => {
  const { server, port } = await listen();
  await expect(chooseApiPort({ bind, asked: port, previous: undefined })).rejects.toThrow(
    `port ${port} on ${bind} is in use: stop what uses it, or choose another with --api-port (0: any free port)`,
  );
  server.close();
});

it("refuses an address that is not this machine's", async () => {
  await expect(chooseApiPort({ bind: '203.0.113.1', asked: 0, previous: undefined })).rejects.toThrow(
    '--bind 203.0.113.1: not an address of this machine',
  );
});
