import { eventually } from '@tinkernetes/component-base/testing';
import { CommandLineClient, type CommandResult } from './clients';
import { ClusterProcess } from './cluster-process';

/** For what a busy machine may take long to do; no measure of speed. */
const timeoutMs = 150_000;

/** Arguments parted by spaces, or a list where one holds a space itself. */
type Command = string | readonly string[];

/** A cluster of processes for all tests of a file, and an unmodified kubectl that works on it. */
export interface ClusterFixture {
  /** As `npm start` left it when `Cluster ready` was printed. */
  readonly cluster: ClusterProcess;
  readonly kubectl: CommandLineClient;
  /** `kubectl COMMAND`; an exit code other than 0 is an error. Resolves with stdout. */
  run(command: Command, input?: string): Promise<string>;
  /** As `run`, whatever the exit code. */
  attempt(command: Command, input?: string): Promise<CommandResult>;
  /** `kubectl apply -f -`. */
  apply(...objects: readonly object[]): Promise<string>;
  /** `kubectl get RESOURCE -o jsonpath=PATH`, trimmed. */
  read(resource: string, path: string): Promise<string>;
  /** Looks again until `check` no longer throws. */
  until<T>(check: () => Promise<T>): Promise<T>;
}

/** Registers the start before the file's tests and the end after them. `args`: as `npm start -- ARGS`. */
export function useCluster(args: readonly string[] = []): ClusterFixture {
  let cluster: ClusterProcess | undefined;
  let kubectl: CommandLineClient | undefined;
  const started = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('the cluster runs only while the tests of its file do');
    return value;
  };
  beforeAll(async () => {
    cluster = await ClusterProcess.start(args);
    kubectl = new CommandLineClient('kubectl', '35', cluster.kubeconfig);
  });
  afterAll(() => cluster?.stopAndRemove());

  const client = () => started(kubectl);
  const words = (command: Command) => (typeof command === 'string' ? command.split(' ') : command);
  return {
    get cluster() {
      return started(cluster);
    },
    get kubectl() {
      return client();
    },
    run: (command, input) => client().run(words(command), { input, timeoutMs }),
    attempt: (command, input) => client().try(words(command), { input, timeoutMs }),
    apply: (...items) =>
      client().run(['apply', '-f', '-'], {
        input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
        timeoutMs,
      }),
    read: async (resource, path) =>
      (await client().run(['get', ...resource.split(' '), '-o', `jsonpath=${path}`], { timeoutMs })).trim(),
    until: (check) => eventually(check, { timeoutMs, intervalMs: 200 }),
  };
}
