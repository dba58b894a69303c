import type { PodSpec } from '@tinkernetes/api';
import { validateHostProcesses, validateWindowsOptions, validateWindowsPod } from './windows';

const container = { name: 'c', image: 'i' };
const texts = (errors: ReadonlyArray<{ field: string; message: string }>) =>
  errors.map(({ field, message }) => `${field}: ${message}`);

describe('Windows Pods', () => {
  it.each([
    ['', 'runAsUserName cannot be an empty string'],
    ['a\u0007', 'runAsUserName cannot contain control characters'],
    ['a\\b\\c', 'runAsUserName cannot contain more than one backslash'],
    ['a/b\\c', "runAsUserName's Domain doesn't match the NetBios nor the DNS format"],
    ['. .', "runAsUserName's User cannot contain only periods or spaces"],
    ['domain\\', "runAsUserName's User cannot be empty"],
  ])('refuse the user %j', (runAsUserName, detail) => {
    const errors = texts(validateWindowsOptions({ runAsUserName }, 'o'));
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`: ${detail}`);
  });

  it.each(['ContainerUser', 'NT AUTHORITY\\SYSTEM', 'domain.example\\user'])('take the user %j', (name) => {
    expect(validateWindowsOptions({ runAsUserName: name }, 'o')).toEqual([]);
  });

  it('know nothing of Linux users', () => {
    const spec: PodSpec = {
      containers: [{ ...container, securityContext: { runAsUser: 1 } }],
      hostPID: true,
    };
    expect(texts(validateWindowsPod(spec, 'spec'))).toEqual([
      'spec.hostPID: Forbidden: cannot be set for a windows pod',
      'spec.containers[0].securityContext.runAsUser: Forbidden: cannot be set for a windows pod',
    ]);
  });

  it('have all containers as processes of the host or none', () => {
    const own = { ...container, securityContext: { windowsOptions: { hostProcess: true } } };
    expect(validateHostProcesses({ hostNetwork: true, containers: [own] }, 'spec')).toEqual([]);
    expect(validateHostProcesses({ hostNetwork: true, containers: [own, container] }, 'spec')).toHaveLength(
      1,
    );
  });
});
