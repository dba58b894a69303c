import { posix } from 'node:path';
import type { Process } from '../kernel/process';

/** `test EXPRESSION` and `[ EXPRESSION ]`. Exit codes: 0 true, 1 false, 2 not an expression. */
export async function test(process: Process): Promise<number> {
  return runTest(process, process.argv);
}

export async function runTest(process: Process, argv: readonly string[]): Promise<number> {
  const [name = 'test', ...args] = argv;
  if (name.endsWith('[')) {
    if (args.at(-1) !== ']') {
      await process.complain(`${name}: missing ]\n`);
      return 2;
    }
    args.pop();
  }
  try {
    return evaluateTest(process, args) ? 0 : 1;
  } catch (error) {
    if (!(error instanceof TestSyntax)) throw error;
    await process.complain(`${name}: ${error.message}\n`);
    return 2;
  }
}

class TestSyntax extends Error {}

const binaryOperators = new Set([
  '=',
  '==',
  '!=',
  '<',
  '>',
  '-eq',
  '-ne',
  '-lt',
  '-le',
  '-gt',
  '-ge',
  '-nt',
  '-ot',
  '-ef',
]);

/** Or binds weakest, then and, then not. */
function evaluateTest(process: Process, args: readonly string[]): boolean {
  if (args.length === 0) return false;
  const cursor = { at: 0 };
  const value = or(process, args, cursor);
  if (cursor.at < args.length) throw new TestSyntax(`${args[cursor.at]}: unknown operand`);
  return value;
}

interface Cursor {
  at: number;
}

function or(process: Process, args: readonly string[], cursor: Cursor): boolean {
  let value = and(process, args, cursor);
  while (args[cursor.at] === '-o' && cursor.at > 0) {
    cursor.at += 1;
    const right = and(process, args, cursor);
    value ||= right;
  }
  return value;
}

function and(process: Process, args: readonly string[], cursor: Cursor): boolean {
  let value = not(process, args, cursor);
  while (args[cursor.at] === '-a') {
    cursor.at += 1;
    const right = not(process, args, cursor);
    value &&= right;
  }
  return value;
}

function not(process: Process, args: readonly string[], cursor: Cursor): boolean {
  if (args[cursor.at] === '!' && cursor.at + 1 < args.length) {
    cursor.at += 1;
    return !not(process, args, cursor);
  }
  return primary(process, args, cursor);
}

function primary(process: Process, args: readonly string[], cursor: Cursor): boolean {
  const [first = '', second, third] = args.slice(cursor.at);
  if (second !== undefined && third !== undefined && binaryOperators.has(second)) {
    cursor.at += 3;
    return binaryTest(process, first, second, third);
  }
  if (first === '(') {
    cursor.at += 1;
    const value = or(process, args, cursor);
    if (args[cursor.at] !== ')') throw new TestSyntax('closing paren expected');
    cursor.at += 1;
    return value;
  }
  if (/^-[a-zA-Z]$/.test(first) && second !== undefined) {
    cursor.at += 2;
    return unaryTest(process, first, second);
  }
  cursor.at += 1;
  return first !== '';
}

export function unaryTest(process: Process, operator: string, operand: string): boolean {
  if (operator === '-z') return operand === '';
  if (operator === '-n') return operand !== '';
  if (operator === '-t') return process.file(Number(operand)).isTty;
  const { fs } = process;
  const path = posix.resolve(process.cwd, operand);
  if (operand === '') return false;
  if (operator === '-L' || operator === '-h') {
    return fs.existsAsLink(path);
  }
  if (!fs.exists(path)) return false;
  const { kind, size, mode } = fs.stat(path);
  switch (operator) {
    case '-e':
    case '-a':
    case '-r':
    case '-w':
    case '-O':
    case '-G':
      return true;
    case '-f':
      return kind === 'file';
    case '-d':
      return kind === 'directory';
    case '-s':
      return size > 0;
    case '-x':
      return kind === 'directory' || (mode & 0o111) !== 0;
    case '-c':
      return kind === 'device';
    case '-b':
      return kind === 'block';
    case '-p':
      return kind === 'fifo';
    case '-S':
      return kind === 'socket';
    default:
      throw new TestSyntax(`${operator}: unknown operand`);
  }
}

export function binaryTest(process: Process, left: string, operator: string, right: string): boolean {
  switch (operator) {
    case '=':
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '>':
      return left > right;
    case '-nt':
    case '-ot':
    case '-ef':
      return compareFiles(process, left, operator, right);
    default:
      return compareNumbers(left, operator, right);
  }
}

function compareNumbers(left: string, operator: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => {
    if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new TestSyntax(`${text}: bad number`);
    return Number(text);
  }) as [number, number];
  switch (operator) {
    case '-eq':
      return a === b;
    case '-ne':
      return a !== b;
    case '-lt':
      return a < b;
    case '-le':
      return a <= b;
    case '-gt':
      return a > b;
    case '-ge':
      return a >= b;
    default:
      throw new TestSyntax(`${operator}: unknown operand`);
  }
}

function compareFiles({ fs, cwd }: Process, left: string, operator: string, right: string): boolean {
  const [a, b] = [left, right].map((path) => posix.resolve(cwd, path)) as [string, string];
  if (operator === '-ef') return fs.exists(a) && fs.exists(b) && fs.realpath(a) === fs.realpath(b);
  const timeOf = (path: string) => (fs.exists(path) ? fs.stat(path).mtime : -Infinity);
  return operator === '-nt' ? timeOf(a) > timeOf(b) : timeOf(a) < timeOf(b);
}
