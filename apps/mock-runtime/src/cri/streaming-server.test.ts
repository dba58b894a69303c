import { once } from 'node:events';
import { eventually } from '@tinkernetes/component-base/testing';
import WebSocket from 'ws';
import { startTestRuntime, type StartedPod, type TestRuntime } from '../testing/start-runtime';

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

/** A client of the v5 channel protocol, as kubectl's WebSocket executor is. */
class ChannelClient {
  readonly received: Record<number, string> = {};
  private constructor(readonly socket: WebSocket) {
    socket.on('message', (data: Buffer) => {
      const id = data[0] ?? 0;
      this.received[id] = (this.received[id] ?? '') + data.subarray(1).toString();
    });
  }

  static async open(url: string): Promise<ChannelClient> {
    const socket = new WebSocket(url.replace('http:', 'ws:'), ['v5.channel.k8s.io']);
    const client = new ChannelClient(socket);
    await once(socket, 'open');
    return client;
  }

  send(channel: keyof typeof channels, text: string): void {
    this.socket.send(Buffer.concat([Buffer.from([channels[channel]]), Buffer.from(text)]));
  }

  /** v5: closes one channel, here the input. */
  closeInput(): void {
    this.socket.send(Buffer.from([255, channels.stdin]));
  }

  shows(channel: keyof typeof channels, text: string | RegExp): Promise<void> {
    return eventually(() => expect(this.received[channels[channel]] ?? '').toMatch(text)).catch(
      (error: unknown) => {
        throw new Error(`not shown: ${String(text)} in ${JSON.stringify(this.received)}`, { cause: error });
      },
    );
  }
}

describe('exec, attach and port-forward', () => {
  let node: TestRuntime;
  let pod: StartedPod;

  beforeAll(async () => {
    node = await startTestRuntime();
    pod = await node.startPod({
      name: 'target',
      image: 'nginx',
      command: ['sh', '-c', 'nginx & exec sleep 3600'],
    });
  });
  afterAll(() => node.stop());

  it('passes input, both outputs and the exit code', async () => {
    const { url } = await node.runtime.exec({
      containerId: pod.containerId,
      cmd: ['sh', '-c', 'cat; echo oops >&2; exit 3'],
      stdin: true,
      stdout: true,
      stderr: true,
    });
    const client = await ChannelClient.open(url);
    client.send('stdin', 'hello\n');
    await client.shows('stdout', 'hello');
    client.closeInput();
    await client.shows('stderr', 'oops');
    await client.shows('error', /"reason":"ExitCode","message":"3"/);
  });

  it('holds a conversation on a terminal: echo, prompt, Ctrl-C, size, exit', async () => {
    const { url } = await node.runtime.exec({
      containerId: pod.containerId,
      cmd: ['sh'],
      stdin: true,
      stdout: true,
      tty: true,
    });
    const client = await ChannelClient.open(url);
    await client.shows('stdout', '/ # ');
    client.send('stdin', 'x=5; echo $((x * 2))\r');
    await client.shows('stdout', /echo \$\(\(x \* 2\)\)\r\n10\r\n/);
    client.send('stdin', 'sleep 1000\r');
    await eventually(async () => expect((await node.sh(pod, 'ps')).output).toContain('sleep 1000'));
    client.send('stdin', '\x03');
    client.send('stdin', 'echo back\r');
    await client.shows('stdout', /# back\r\n/);
    client.send('stdin', 'exit 4\r');
    await client.shows('error', /"message":"4"/);
  });

  it('attaches to the output and input of a running container', async () => {
    const reader = await node.startPod({
      name: 'reader',
      image: 'busybox',
      command: ['sh', '-c', 'while read line; do echo "got $line"; done; echo over'],
      container: { stdin: true, stdinOnce: true },
    });
    const { url } = await node.runtime.attach({
      containerId: reader.containerId,
      stdin: true,
      stdout: true,
      stderr: true,
    });
    const client = await ChannelClient.open(url);
    client.send('stdin', 'one\n');
    await client.shows('stdout', 'got one\n');
    client.closeInput();
    await client.shows('stdout', 'over\n');
    await client.shows('error', 'Success');
  });

  it('attaches to a terminal: what is typed is echoed, resizing is seen, Ctrl-C reaches the program', async () => {
    const shell = await node.startPod({
      name: 'terminal',
      image: 'busybox',
      command: ['sh'],
      container: { stdin: true, tty: true },
    });
    const { url } = await node.runtime.attach({
      containerId: shell.containerId,
      stdin: true,
      stdout: true,
      tty: true,
    });
    const client = await ChannelClient.open(url);
    client.send('resize', '{"Width":101,"Height":37}');
    await eventually(async () => {
      client.send('stdin', 'stty size\r');
      await client.shows('stdout', /stty size\r\n37 101\r\n/);
    });
    client.send('stdin', 'stty -echo; sleep 1000\r');
    await eventually(async () => expect((await node.sh(shell, 'ps')).output).toContain('sleep 1000'));
    client.send('stdin', '\x03');
    client.send('stdin', 'echo unseen keys | tr a-z A-Z\r');
    await client.shows('stdout', 'UNSEEN KEYS');
    expect(client.received[channels.stdout]).not.toContain('tr a-z');
    // A client that goes away leaves the container running; the next one finds it as it was.
    client.socket.terminate();
    const again = await node.runtime.attach({
      containerId: shell.containerId,
      stdin: true,
      stdout: true,
      tty: true,
    });
    const second = await ChannelClient.open(again.url);
    second.send('stdin', 'exit 6\r');
    await second.shows('error', 'Success');
    await eventually(async () => {
      const { status } = await node.runtime.containerStatus({ containerId: shell.containerId });
      expect(status).toMatchObject({ state: 'CONTAINER_EXITED', exitCode: 6 });
    });
  });

  it('reports an attachment as successful when the container exits with a code, as containerd does', async () => {
    const shell = await node.startPod({
      name: 'shell',
      image: 'busybox',
      command: ['sh', '-c', 'read line; exit 3'],
      container: { stdin: true, stdinOnce: true },
    });
    const { url } = await node.runtime.attach({
      containerId: shell.containerId,
      stdin: true,
      stdout: true,
      stderr: true,
    });
    const client = await ChannelClient.open(url);
    client.send('stdin', 'bye\n');
    await client.shows('error', 'Success');
  });

  it('forwards ports into the network of the sandbox', async () => {
    const { url } = await node.runtime.portForward({ podSandboxId: pod.sandboxId, port: [80] });
    const socket = new WebSocket(url.replace('http:', 'ws:'), ['v4.channel.k8s.io']);
    let text = '';
    socket.on('message', (data: Buffer) => {
      if (data[0] === 0) text += data.subarray(1).toString();
    });
    await once(socket, 'open');
    socket.send(Buffer.concat([Buffer.from([0]), Buffer.from('GET / HTTP/1.0\r\n\r\n')]));
    await eventually(() => expect(text).toContain('Welcome to nginx!'));
    socket.terminate();
  });

  it('refuses a command that does not exist before a stream is opened for it', async () => {
    const { url } = await node.runtime.exec({
      containerId: pod.containerId,
      cmd: ['nope'],
      stdout: true,
      stderr: true,
    });
    const client = await ChannelClient.open(url);
    await client.shows('error', /executable file not found in \$PATH/);
  });

  it('is good for one connection', async () => {
    const { url } = await node.runtime.exec({ containerId: pod.containerId, cmd: ['true'], stdout: true });
    await ChannelClient.open(url);
    await expect(ChannelClient.open(url)).rejects.toThrow('404');
  });
});
