export { runExecutable } from './run';
