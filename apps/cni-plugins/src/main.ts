import { basename, extname } from 'node:path';
import { builtInPlugins } from '@tinkernetes/cni';
import { runExecutable } from './run';

/** Like busybox: the name that the file is called by decides which plugin runs (or the first argument). */
const [, file = '', argument] = process.argv;
const called = basename(file, extname(file));

void runExecutable(builtInPlugins[called] ? called : (argument ?? called));
