/** Faults on purpose in place of an answer, or ahead of it. Loaded with the first request that may meet one. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { GatewayError } from '../contract/errors.ts';
import { faultHeader } from '../contract/faults.ts';
import type { Member } from '../exchange/exchange.ts';
import type { RequestTrace } from '../exchange/exchange-trace.ts';
import { FaultedOutput } from '../exchange/faults/faulted-output.ts';
import { type EarlyFault, type Fault, type FaultOf, isEarly, needsStream } from '../faults/fault-kinds.ts';
import type { FaultSwitch } from '../faults/fault-switch.ts';
import { errorOf } from '../faults/injected-error.ts';
import { FaultTextError, parseFault } from '../faults/parse-rule.ts';
import type { Api } from '../wire/api.ts';
import type { RouteMatch } from '../wire/registry.ts';
import { errorHeaders } from './send-error.ts';

interface FaultyCall {
  request: IncomingMessage;
  response: ServerResponse;
  api: Api;
  match: RouteMatch;
  member: Member;
  trace: RequestTrace;
}

/** What the request is to meet; null: nothing. Throws GatewayError if its header asks for what it cannot have. */
export function chooseFault(faults: FaultSwitch, { request, match, member, trace }: FaultyCall): Fault | null {
  const asked = request.headers[faultHeader];
  if (match.passed) {
    if (asked === undefined) return null;
    throw refused(`${match.label} is passed through to a provider, and such requests meet no faults.`);
  }
  const streams = trace.stream && match.route.stream !== null;
  if (asked !== undefined) return askedFault(String(asked), member, streams);
  const facts = { model: trace.model, route: match.label, streams };
  return faults.sequenceFor(member.group.id, member.key.id)?.next(facts) ?? null;
}

function askedFault(text: string, { key }: Member, streams: boolean): Fault {
  if (!key.faults) {
    throw refused(
      `Key "${key.id}" does not let requests ask for faults. Set "faults" of the key to true, or leave out the header.`,
    );
  }
  const fault = parse(text);
  if (needsStream(fault) && !streams) throw refused(`The fault "${fault.name}" needs a request for a stream.`);
  return fault;
}

function parse(text: string): Fault {
  try {
    return parseFault(text);
  } catch (error) {
    throw error instanceof FaultTextError ? refused(error.message) : error;
  }
}

function refused(message: string): GatewayError {
  return new GatewayError('invalid_value', `${faultHeader}: ${message}`, { param: faultHeader });
}

/**
 * Acts on a fault before there is an answer.
 * @returns `answered` if nothing else may be sent; else what the response must be sent through, or null for none.
 */
export async function meetFault(fault: Fault, call: FaultyCall): Promise<'answered' | FaultedOutput | null> {
  const { response, match, trace } = call;
  const met = () => {
    trace.fault = fault.name;
  };
  if (!isEarly(fault)) return new FaultedOutput({ fault, response, route: match.route, met });
  met();
  if (fault.name !== 'late-head') {
    await answer(fault, call);
    return 'answered';
  }
  response.setHeader(faultHeader, fault.name);
  await passed(fault.ms, response);
  return null;
}

async function answer(fault: Exclude<EarlyFault, FaultOf<'late-head'>>, call: FaultyCall): Promise<void> {
  const { response, trace } = call;
  switch (fault.name) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await passed(fault.seconds * 1000, response);
      response.destroy();
      return;
    case 'html':
      sendPage(call);
      return;
    default: {
      const error = errorOf(fault);
      sendInjected(fault.name === 'status' ? fault.code : call.api.statusOf(error), error, call);
      trace.response = {
        ...trace.response,
        status: response.statusCode,
        errorCode: error.kind.code ?? fault.name,
      };
    }
  }
}

function sendInjected(status: number, error: ReturnType<typeof errorOf>, { response, api, trace }: FaultyCall): void {
  const body = Buffer.from(api.writeError(error));
  response.writeHead(status, {
    ...errorHeaders(api, error, trace.id),
    [faultHeader]: trace.fault ?? '',
    'content-length': String(body.length),
  });
  response.end(body);
}

const page = '<!doctype html><html><body><h1>Sign in to the network</h1><p>A fault on purpose.</p></body></html>';

function sendPage({ response, trace }: FaultyCall): void {
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'x-sluice-request-id': trace.id,
    [faultHeader]: trace.fault ?? '',
  });
  response.end(page);
  trace.response = { ...trace.response, status: 200 };
}

/** Ends early if the connection closes. */
async function passed(ms: number, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  await setTimeout(ms, undefined, { signal: closed.signal }).catch(() => {});
  response.off('close', close);
}
