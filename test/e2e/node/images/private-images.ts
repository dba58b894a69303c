import { defineImage, type ImageProgramContext } from '@tinkernetes/mock-runtime';

/** Serves until it is stopped. */
async function serve({ clock, log, signal }: ImageProgramContext): Promise<number> {
  await log('serving');
  await clock.sleep(86_400_000, signal).catch(() => undefined);
  return 0;
}

const credentials = { username: 'robot', password: 's3cret' };

/** Images that only those can pull who have logged in. */
export default [
  defineImage('registry.example.com/team/app', serve, { credentials, tags: ['1', '2'] }),
  defineImage('registry.example.com/team/data', serve, {
    credentials,
    files: { '/models/small/weights': 'many numbers\n' },
  }),
];
