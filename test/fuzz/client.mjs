// Sends what no well-behaved client would send, and gives each answer a time by which it must be there.
import https from 'node:https';

const answerWithinMs = 60_000;

export class Client {
  #agent = new https.Agent({ keepAlive: true, maxSockets: 16, rejectUnauthorized: false });

  constructor({ url, token }) {
    this.base = new URL(url);
    this.token = token;
  }

  /** `{ status, headers, body }`; a stream is closed after its first bytes. `status` 0: the connection was cut, see `error`. */
  send({ method, path, headers = {}, body }) {
    const { hostname, port } = this.base;
    return new Promise((resolve, reject) => {
      const request = https.request({
        hostname,
        port,
        method,
        path,
        agent: this.#agent,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...headers,
          ...(body && { 'content-length': body.length }),
        },
      });
      let answered = false;
      request.setTimeout(answerWithinMs, () =>
        request.destroy(new Error(`no answer within ${answerWithinMs / 1000} s`)),
      );
      request.once('error', (error) => {
        if (!answered) resolve({ status: 0, headers: {}, body: Buffer.alloc(0), error: error.message });
      });
      request.once('response', (response) => {
        const chunks = [];
        const done = () => {
          answered = true;
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) });
        };
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', done);
        response.once('error', done);
        if (!isStream(path) || response.statusCode !== 200) return;
        done();
        request.destroy();
      });
      request.once('upgrade', (_, socket) => {
        answered = true;
        socket.destroy();
        resolve({ status: 101, headers: {}, body: Buffer.alloc(0) });
      });
      try {
        request.end(body);
      } catch (error) {
        reject(error);
      }
    });
  }

  async json(method, path, body) {
    const answer = await this.send({
      method,
      path,
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    });
    return { ...answer, object: answer.body.length > 0 ? JSON.parse(answer.body.toString()) : undefined };
  }

  close() {
    this.#agent.destroy();
  }
}

const isStream = (path) => /[?&](watch|follow)=|\/watch\//.test(path);
