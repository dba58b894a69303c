import { decodeContinue, encodeContinue } from './continue-token';

describe('continue tokens', () => {
  it('come back as they were', () => {
    const token = { revision: 17, startAfter: 'default/web-1' };
    expect(decodeContinue(encodeContinue(token))).toEqual(token);
  });

  it.each([
    ['garbage', 'continue key is not valid'],
    [
      Buffer.from('{"v":"other","rv":1,"start":"a"}').toString('base64url'),
      'does not recognize this encoded version',
    ],
    [
      Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}').toString('base64url'),
      'incorrect encoded start resourceVersion',
    ],
    [Buffer.from('{"v":"meta.k8s.io/v1","rv":1}').toString('base64url'), 'encoded start key empty'],
  ])('%s is refused: %s', (token, message) => {
    expect(() => decodeContinue(token)).toThrow(message);
  });
});
