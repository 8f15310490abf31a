import { json, type ScriptedUpstream, type SeenRequest, startUpstream } from '../support/upstream.ts';

/** The behaviour, chosen by the model name in the request. */
export const echoes = ['reply', 'stream', 'refusal', 'broken-stream', 'cut', 'no-http', 'redirect'] as const;

/** An upstream that repeats the received credential in its answers: in bodies, headers, addresses and codes. */
export function startEchoUpstream(): Promise<ScriptedUpstream> {
  return startUpstream((request, response, raw) => {
    const credential = `${request.headers.authorization}`;
    const headers = {
      'x-request-id': credential,
      'openai-organization': credential,
      'x-ratelimit-reset-tokens': credential,
      'set-cookie': `credential=${credential}`,
    };
    const error = { message: `Incorrect key: ${credential}`, type: credential, param: credential, code: credential };
    const chunk = `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: credential } }] })}\n\n`;
    const stream = () => response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' }).write(chunk);
    switch (modelOf(request)) {
      case 'reply':
        return json(response, { id: credential, choices: [{ message: { content: credential } }] }, 200, headers);
      case 'stream':
        stream();
        return void response.end('data: [DONE]\n\n');
      case 'broken-stream':
        stream();
        return void response.end(`data: ${JSON.stringify({ error })}\n\n`);
      case 'cut':
        stream();
        return void setImmediate(() => raw.socket.destroy());
      case 'no-http':
        return void raw.socket.end(`HTTP/1.1 ${credential} ${credential}\r\n${credential}\r\n\r\n`);
      case 'redirect':
        return json(response, {}, 302, {
          ...headers,
          location: `/${encodeURIComponent(credential)}?key=${credential}`,
        });
      default:
        return json(response, { error }, 401, headers);
    }
  });
}

function modelOf({ body }: SeenRequest): string {
  return /"model":"([\w-]+)"/.exec(body.toString())?.[1] ?? '';
}
