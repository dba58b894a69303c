import { realClock } from '@tinkernetes/component-base';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack, type Pack } from 'tar-stream';

const busybox = '/bin/busybox';
const cniPlugins = '/usr/lib/cni';
const applets = ['sh', 'sleep', 'echo', 'cat', 'hostname', 'test', 'true'];

/** Why real containers can't be run here; undefined when they can. Debian: containerd runc containernetworking-plugins busybox-static. */
export function containerdMissing(): string | undefined {
  if (process.getuid?.() !== 0) return 'not root';
  if (spawnSync('containerd', ['--version']).error) return 'no containerd';
  if (spawnSync('runc', ['--version']).error) return 'no runc';
  if (!existsSync(busybox)) return 'no static busybox';
  if (!existsSync(join(cniPlugins, 'ptp'))) return 'no CNI plugins';
  if (spawnSync('unshare', ['-m', '-n', '-p', '-f', 'true']).status !== 0)
    return 'the kernel refuses namespaces';
  return undefined;
}

/** A containerd of the test's own, with one small image made of this machine's busybox. */
export class Containerd {
  static readonly image = 'docker.io/local/busybox:1';
  private process: ChildProcess | undefined;

  constructor(private readonly directory: string) {}

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  private get socket(): string {
    return join(this.directory, 'containerd.sock');
  }

  async start(): Promise<void> {
    await mkdir(join(this.directory, 'net.d'), { recursive: true });
    await writeFile(join(this.directory, 'net.d/10-test.conflist'), JSON.stringify(network(this.directory)));
    const config = join(this.directory, 'config.toml');
    await writeFile(config, configuration(this.directory, this.socket));
    this.process = spawn('containerd', ['--config', config], { stdio: 'ignore' });
    for (let i = 0; i < 200 && this.ctr('version').status !== 0; i++) await realClock.sleep(50);
    const archive = join(this.directory, 'image.tar');
    await writeFile(archive, await imageArchive());
    const imported = this.ctr('-n', 'k8s.io', 'images', 'import', '--snapshotter', 'native', archive);
    if (imported.status !== 0) throw new Error(`image not imported: ${imported.stderr.toString()}`);
  }

  async stop(): Promise<void> {
    const { process } = this;
    if (!process) return;
    const ended = new Promise((resolve) => process.once('exit', resolve));
    process.kill('SIGTERM');
    await ended;
  }

  private ctr(...args: string[]) {
    return spawnSync('ctr', ['-a', this.socket, ...args]);
  }
}

const network = (directory: string): object => ({
  cniVersion: '0.4.0',
  name: 'test',
  plugins: [
    { type: 'ptp', ipam: { type: 'host-local', subnet: '10.199.0.0/24', dataDir: join(directory, 'ipam') } },
  ],
});

const configuration = (directory: string, socket: string): string => `version = 2
root = "${directory}/containerd"
state = "${directory}/containerd-state"
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "docker.io/local/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "native"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniPlugins}"
    conf_dir = "${directory}/net.d"
`;

async function collect(archive: Pack): Promise<Buffer> {
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Two images of one layer in the format of `docker save`. */
async function imageArchive(): Promise<Buffer> {
  const files = pack();
  for (const name of ['bin', 'tmp', 'etc', 'proc', 'sys', 'dev'])
    files.entry({ name, type: 'directory', mode: 0o755 });
  files.entry({ name: 'bin/busybox', mode: 0o755 }, readFileSync(busybox));
  for (const applet of applets) files.entry({ name: `bin/${applet}`, type: 'symlink', linkname: 'busybox' });
  const layer = await collect(files);
  const archive = pack();
  const layerFile = `${sha256(layer)}/layer.tar`;
  archive.entry({ name: layerFile }, layer);
  const manifest = [
    { tag: 'docker.io/local/pause:1', command: ['/bin/sleep', '1000000'] },
    { tag: Containerd.image, command: ['/bin/sh'] },
  ].map(({ tag, command }) => {
    const config = JSON.stringify({
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config: { Cmd: command, Env: ['PATH=/bin'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${sha256(layer)}`] },
    });
    const name = `${sha256(config)}.json`;
    archive.entry({ name }, config);
    return { Config: name, RepoTags: [tag], Layers: [layerFile] };
  });
  archive.entry({ name: 'manifest.json' }, JSON.stringify(manifest));
  return collect(archive);
}
