import type { OutgoingRequest, Transport } from '../../server/transport/transport.ts';

/** Answers each request with `answer`, as JSON, and records the requests. */
export function scriptedTransport(
  answer: (request: OutgoingRequest) => unknown,
  status = 200,
): Transport & { seen: OutgoingRequest[] } {
  const seen: OutgoingRequest[] = [];
  return {
    seen,
    send(request, handler) {
      seen.push(request);
      const body = Buffer.from(JSON.stringify(answer(request)));
      queueMicrotask(() => {
        handler.onHeaders(status, { 'content-type': 'application/json' });
        handler.onData(body);
        handler.onEnd();
      });
      return { pause() {}, resume() {}, abort() {} };
    },
    connect: () => Promise.reject(new Error('not asked')),
    chainTo: () => Promise.resolve({ hops: [null], unusable: [], by: 'provider' }),
    leaveConnections() {},
    close: () => Promise.resolve(),
  };
}
