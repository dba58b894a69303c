import { createClient, type Client } from '@tinkernetes/client';
import { startApiServer, type TestApiServer } from '@tinkernetes/testing';

describe('reviews', () => {
  let server: TestApiServer;
  let client: Client;
  beforeAll(async () => {
    server = await startApiServer();
    client = createClient(server.adminConfig);
  });
  afterAll(async () => {
    client?.close();
    await server?.stop();
  });

  const refusal = (path: string, body: object) =>
    client.request({ method: 'POST', path, body }).then(
      () => undefined,
      (error: Error & { code?: number }) => error,
    );
  const access = '/apis/authorization.k8s.io/v1';

  it.each([
    [`${access}/selfsubjectaccessreviews`, /exactly one of nonResourceAttributes or resourceAttributes/],
    [`${access}/subjectaccessreviews`, /at least one of user or group must be specified/],
    [`${access}/selfsubjectrulesreviews`, /no namespace on request/],
    ['/apis/authentication.k8s.io/v1/tokenreviews', /token is required/],
  ])('at %s say what an empty body lacks', async (path, message) => {
    const error = await refusal(path, {});
    expect(error?.message).toMatch(message);
    expect(error?.code).toBeLessThan(500);
  });

  it('refuse an object of another kind', async () => {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
    expect(await refusal(`${access}/selfsubjectaccessreviews`, configMap)).toMatchObject({
      code: 400,
      message:
        'ConfigMap in version "v1" cannot be handled as a SelfSubjectAccessReview: converting (v1.ConfigMap) to (authorization.SelfSubjectAccessReview): unknown conversion',
    });
  });
});
