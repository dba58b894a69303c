/** Linux signal numbers (signal(7), x86 and ARM). */
export const signalNumbers = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGUSR2: 12,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
  SIGCHLD: 17,
  SIGCONT: 18,
  SIGSTOP: 19,
  SIGTSTP: 20,
  SIGTTIN: 21,
  SIGTTOU: 22,
  SIGURG: 23,
  SIGWINCH: 28,
  SIGSYS: 31,
} as const;

export type SignalName = keyof typeof signalNumbers;

/** Signals that do nothing unless a program asks for them. */
export const ignoredByDefault: ReadonlySet<SignalName> = new Set([
  'SIGCHLD',
  'SIGCONT',
  'SIGURG',
  'SIGWINCH',
]);

/** `TERM`, `SIGTERM`, `15`; undefined for what is none. */
export function parseSignal(text: string): SignalName | undefined {
  const upper = text.toUpperCase();
  const name = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  if (name in signalNumbers) return name as SignalName;
  return (Object.keys(signalNumbers) as SignalName[]).find((n) => String(signalNumbers[n]) === text);
}

/** A process that was ended by a signal exits with 128 + its number, as shells and container runtimes report it. */
export const exitCodeOf = (signal: SignalName): number => 128 + signalNumbers[signal];
