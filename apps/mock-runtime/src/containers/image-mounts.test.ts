import { CriError, type Mount } from '@tinkernetes/cri';
import { FileSystem } from '../files/file-system';
import { defineImage } from '../images/define-image';
import type { StoredImage } from '../images/image';
import { imageMounts } from './image-mounts';

const definition = defineImage('acme/data', () => Promise.resolve(0), {
  files: { '/models/small/weights': 'many numbers\n', '/readme': 'read me\n' },
});
const stored = { definition, tag: 'latest' } as StoredImage;
const find = (name: string) => (name === 'acme/data' ? stored : undefined);
const mount = (containerPath: string, image: string, imageSubPath = ''): Mount =>
  ({ containerPath, hostPath: '', image: { image }, imageSubPath }) as Mount;

const container = (...mounts: Mount[]): FileSystem =>
  new FileSystem(definition.root('latest'), {
    clock: { now: () => 0 },
    mounts: imageMounts({ mounts }, find),
  });

describe('an image that is mounted', () => {
  it('shows its files, or those of a sub path, which may be a single file', () => {
    const fs = container(
      mount('/all', 'acme/data'),
      mount('/part', 'acme/data', 'models/small'),
      mount('/one', 'acme/data', 'readme'),
    );
    expect(fs.readFile('/all/models/small/weights').toString()).toBe('many numbers\n');
    expect(fs.readdir('/part')).toEqual(['weights']);
    expect(fs.readFile('/one').toString()).toBe('read me\n');
    expect(fs.readdir('/')).toEqual(expect.arrayContaining(['all', 'one', 'part']));
  });

  it.each<[string, (fs: FileSystem) => void]>([
    ['written', (fs) => fs.writeFile('/all/new', Buffer.from('x'))],
    ['overwritten', (fs) => fs.writeFile('/all/readme', Buffer.from('x'))],
    ['removed', (fs) => fs.unlink('/all/readme')],
    ['renamed', (fs) => fs.rename('/all/readme', '/tmp/readme')],
    ['given other rights', (fs) => fs.chmod('/all/readme', 0o600)],
    ['given away', (fs) => fs.chown('/all/readme', 1, 1)],
  ])('can’t be %s', (_, change) => {
    const fs = container(mount('/all', 'acme/data'));
    expect(() => change(fs)).toThrow(expect.objectContaining({ code: 'EROFS' }));
    expect(fs.readFile('/all/readme').toString()).toBe('read me\n');
  });

  it('is refused where the node has no such image, or the image no such path', () => {
    expect(() => container(mount('/all', 'acme/other'))).toThrow(CriError);
    expect(() => container(mount('/all', 'acme/data', 'none'))).toThrow(
      'sub path "none" does not exist in "acme/data"',
    );
  });
});
