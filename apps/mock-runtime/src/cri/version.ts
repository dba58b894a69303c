export const runtimeName = 'tinkernetes';
export const runtimeVersion = '0.1.0';
