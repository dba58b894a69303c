import type { ScriptNode, WordNode } from 'just-bash';
import { passwdEntries } from '../containers/users';
import type { Process } from '../kernel/process';
import { evaluate, type ArithmeticScope } from './arithmetic';
import { braceAlternatives } from './braces';
import { splitByIfs } from './fields';
import { isAtList, ParameterValues } from './parameters';
import { glob, hasPattern, type Piece } from './patterns';
import { ShellError, type ShellState } from './state';
import { parseScript, type ArithmeticNode, type WordPart } from './syntax';

export interface ExpansionHost {
  readonly process: Process;
  readonly state: ShellState;
  /** `$$`: of the shell, also in its subshells. */
  readonly shellPid: number;
  /** Runs a command substitution; its output without trailing newlines. */
  substitute(script: ScriptNode): Promise<string>;
  /** Runs a process substitution; the path at which its other end is. */
  processSubstitution(script: ScriptNode, direction: 'input' | 'output'): string;
}

/** One field of an expanded word; it exists also when empty if something in it was quoted. */
interface Field {
  pieces: Piece[];
  quoted: boolean;
}

/** Word expansion in POSIX' order: braces, tilde, parameters, commands, arithmetic, field splitting, pathnames, quotes. */
export class Expansion {
  readonly parameters: ParameterValues;

  constructor(private readonly host: ExpansionHost) {
    this.parameters = new ParameterValues(host, this);
  }

  /** All fields of a list of words. */
  async fields(words: readonly WordNode[]): Promise<string[]> {
    const out: string[] = [];
    for (const word of words) {
      for (const alternative of braceAlternatives(word)) {
        for (const field of await this.split(alternative.parts)) out.push(...this.paths(field));
      }
    }
    return out;
  }

  /** One string: assignments, redirection targets, here-documents, `case` words. */
  async text(word: WordNode): Promise<string> {
    return (await this.pieces(word.parts, false)).map((piece) => piece.text).join('');
  }

  /** For patterns: what was quoted stays marked. */
  pattern(word: WordNode): Promise<Piece[]> {
    return this.pieces(word.parts, false);
  }

  async arithmetic({ expression, originalText = '' }: ArithmeticNode): Promise<bigint> {
    return evaluate(expression, this.scope(originalText));
  }

  scope(source = ''): ArithmeticScope {
    const { state } = this.host;
    return {
      source: source.trim(),
      get: (name) => state.get(name) ?? this.parameters.special(name) ?? '',
      set: (name, value) => state.assign(name, value),
      getElement: (name, key) => state.element(name, key) ?? '',
      setElement: (name, key, value) => state.assignElement(name, key, value),
      divisionByZero: (text) =>
        state.dialect === 'sh' ? 'divide by zero' : `${text}: division by 0 (error token is "0")`,
      expand: async (text) => this.text(await wordOf(text)),
      parse: async (text) => {
        const [part] = (await wordOf(`$(( ${text} ))`)).parts;
        if (part?.type !== 'ArithmeticExpansion') throw new ShellError(`${text}: arithmetic syntax error`);
        return part.expression.expression;
      },
    };
  }

  private paths({ pieces, quoted }: Field): string[] {
    const { state, process } = this.host;
    const text = pieces.map((piece) => piece.text).join('');
    if (text === '' && !quoted) return [];
    if (state.options.has('noglob') || !hasPattern(pieces)) return [text];
    const found = glob(pieces, { fs: process.fs, cwd: process.cwd, dotglob: state.options.has('dotglob') });
    return found.length > 0 || state.options.has('nullglob') ? found : [text];
  }

  /** Without field splitting. */
  private async pieces(parts: readonly WordPart[], quoted: boolean): Promise<Piece[]> {
    const out: Piece[] = [];
    for (const part of parts) {
      if (part.type === 'DoubleQuoted') {
        out.push(...(await this.pieces(part.parts, true)));
        continue;
      }
      const list = part.type === 'ParameterExpansion' ? await this.parameters.list(part) : undefined;
      if (list && part.type === 'ParameterExpansion') {
        const separator = isAtList(part.parameter) ? ' ' : this.parameters.separator();
        out.push({ text: list.join(separator), quoted });
        continue;
      }
      const { text, literal } = await this.single(part);
      out.push({ text, quoted: quoted || literal });
    }
    return out;
  }

  private async split(parts: readonly WordPart[]): Promise<Field[]> {
    const fields: Field[] = [];
    let current: Field | undefined;
    const add = (text: string, quoted: boolean) => {
      current ??= startField(fields);
      current.pieces.push({ text, quoted });
      current.quoted ||= quoted;
    };
    const breakField = () => {
      current = undefined;
    };
    const addSplit = (text: string) => {
      for (const { text: field, end } of splitByIfs(text, this.host.state.get('IFS') ?? ' \t\n')) {
        if (field !== '') add(field, false);
        else if (end === 'hard' && !current) add('', true);
        if (end !== 'none') breakField();
      }
    };
    for (const part of parts) {
      switch (part.type) {
        case 'DoubleQuoted':
          await this.addDoubleQuoted(part.parts, add, breakField);
          break;
        case 'ParameterExpansion': {
          const list = await this.parameters.list(part);
          if (list) {
            list.forEach((item, index) => {
              if (index > 0) breakField();
              addSplit(item);
            });
          } else if (part.operation && 'word' in part.operation && part.operation.word) {
            for (const piece of await this.parameters.withWord(part)) {
              if (piece.quoted) add(piece.text, true);
              else addSplit(piece.text);
            }
          } else addSplit(await this.parameters.text(part));
          break;
        }
        case 'CommandSubstitution':
          addSplit(await this.host.substitute(part.body));
          break;
        case 'ArithmeticExpansion':
          addSplit(String(await this.arithmetic(part.expression)));
          break;
        default: {
          const { text, literal } = await this.single(part);
          add(text, literal);
        }
      }
    }
    return fields;
  }

  private async addDoubleQuoted(
    parts: readonly WordPart[],
    add: (text: string, quoted: boolean) => void,
    breakField: () => void,
  ): Promise<void> {
    let onlyEmptyList = parts.length > 0;
    for (const part of parts) {
      const isFields =
        part.type === 'ParameterExpansion' &&
        (isAtList(part.parameter) || (part.operation?.type === 'ArrayKeys' && !part.operation.star));
      const list = isFields ? await this.parameters.list(part) : undefined;
      if (list) {
        list.forEach((item, index) => {
          if (index > 0) breakField();
          add(item, true);
        });
        if (list.length > 0) onlyEmptyList = false;
        continue;
      }
      onlyEmptyList = false;
      for (const piece of await this.pieces([part], true)) add(piece.text, true);
    }
    if (!onlyEmptyList) add('', true);
  }

  /** A part that gives one text. `literal`: not open to splitting and patterns. */
  private async single(part: WordPart): Promise<{ text: string; literal: boolean }> {
    switch (part.type) {
      case 'Literal':
        return { text: part.value, literal: false };
      case 'SingleQuoted':
      case 'Escaped':
        return { text: part.value, literal: true };
      case 'Glob':
        return { text: part.pattern, literal: false };
      case 'TildeExpansion':
        return { text: this.home(part.user), literal: true };
      case 'ParameterExpansion':
        return { text: await this.parameters.text(part), literal: false };
      case 'CommandSubstitution':
        return { text: await this.host.substitute(part.body), literal: false };
      case 'ArithmeticExpansion':
        return { text: String(await this.arithmetic(part.expression)), literal: false };
      case 'DoubleQuoted':
        return { text: (await this.pieces(part.parts, true)).map((p) => p.text).join(''), literal: true };
      case 'BraceExpansion':
        return { text: '', literal: true };
      case 'ProcessSubstitution':
        return { text: this.host.processSubstitution(part.body, part.direction), literal: true };
    }
  }

  private home(user: string | null): string {
    if (user === null) return this.host.state.get('HOME') ?? '/';
    return passwdEntries(this.host.process.fs).find((e) => e.name === user)?.home ?? `~${user}`;
  }
}

function startField(fields: Field[]): Field {
  const field: Field = { pieces: [], quoted: false };
  fields.push(field);
  return field;
}

/** A word that is only known as text (arithmetic operands, subscripts). */
async function wordOf(text: string): Promise<WordNode> {
  const script = await parseScript(`: "${text.replaceAll('"', '\\"')}"`);
  const command = script.statements[0]?.pipelines[0]?.commands[0];
  const quoted = command?.type === 'SimpleCommand' ? command.args[0]?.parts[0] : undefined;
  return { type: 'Word', parts: quoted?.type === 'DoubleQuoted' ? quoted.parts : [] };
}
