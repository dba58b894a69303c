// Servers that a suite needs: without them its tests would be skipped, which must not pass for success.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const packages = { 'redis-server': 'redis-server', etcd: 'etcd-server' };

const isInstalled = (program) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Ends the process with a line that says what to install. */
export function requirePrograms(...programs) {
  const missing = programs.filter((program) => !isInstalled(program));
  if (missing.length === 0) return;
  const names = missing.map((program) => packages[program]).join(' ');
  console.error(`${missing.join(' and ')} not found: apt-get install ${names}`);
  process.exit(2);
}
