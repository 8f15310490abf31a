/** Injects faults on purpose before an answer, or in place of one. Loaded with the first request that may get any. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Api } from '../../apis/core/api.ts';
import type { RouteMatch } from '../../apis/registry.ts';
import { GatewayError } from '../../contract/errors.ts';
import { faultHeader } from '../../contract/faults.ts';
import {
  type Fault,
  type InsteadFault,
  isEarly,
  needsStream,
  type ResponseFault,
  replacesAnswer,
} from '../../faults/fault-kinds.ts';
import type { FaultSwitch } from '../../faults/fault-switch.ts';
import { errorOf } from '../../faults/injected-error.ts';
import { FaultTextError, parseFaults } from '../../faults/parse-rule.ts';
import type { Member } from '../../routing/snapshot.ts';
import { errorHeaders } from '../answer/client-headers.ts';
import type { RequestTrace } from '../record/exchange-trace.ts';
import { FaultInjector } from './fault-injector.ts';

interface FaultyCall {
  request: IncomingMessage;
  response: ServerResponse;
  api: Api;
  match: RouteMatch;
  member: Member;
  trace: RequestTrace;
}

/** The faults to inject into the request. Throws a GatewayError if its header asks for faults that it may not have. */
export function chooseFaults(faults: FaultSwitch, { request, match, member, trace }: FaultyCall): readonly Fault[] {
  const faultsHeader = request.headers[faultHeader];
  if (match.passthrough) {
    if (faultsHeader === undefined) return [];
    throw invalidFault(`${match.label} is passed through to a provider, and such requests meet no faults.`);
  }
  const streams = trace.stream && match.route.stream !== null;
  if (faultsHeader !== undefined) return requestedFaults(String(faultsHeader), member, streams);
  const facts = { model: trace.model, route: match.label, streams };
  return faults.sequenceFor(member.group.id, member.key.id)?.next(facts) ?? [];
}

function requestedFaults(text: string, { key }: Member, streams: boolean): readonly Fault[] {
  if (!key.faults) {
    throw invalidFault(
      `Key "${key.id}" does not let requests ask for faults. Set "faults" of the key to true, or leave out the header.`,
    );
  }
  const faults = parse(text);
  const unfit = streams ? undefined : faults.find(needsStream);
  if (unfit) throw invalidFault(`The fault "${unfit.name}" needs a request for a stream.`);
  return faults;
}

function parse(text: string): readonly Fault[] {
  try {
    return parseFaults(text);
  } catch (error) {
    throw error instanceof FaultTextError ? invalidFault(error.message) : error;
  }
}

function invalidFault(message: string): GatewayError {
  return new GatewayError('invalid_value', `${faultHeader}: ${message}`, { param: faultHeader });
}

/**
 * Injects the faults that take effect before there is an answer.
 * @returns `answered` if nothing else may be sent; otherwise the injector for the response, or null for none
 */
export async function injectFaults(
  faults: readonly Fault[],
  call: FaultyCall,
): Promise<'answered' | FaultInjector | null> {
  const { response, match, trace } = call;
  const lateHead = faults.find((fault) => fault.name === 'late-head');
  if (lateHead) {
    response.setHeader(faultHeader, noteFaults(trace, lateHead));
    await delay(lateHead.ms, response);
    if (response.closed) return 'answered';
  }
  const insteadFault = faults.find(replacesAnswer);
  if (insteadFault) {
    noteFaults(trace, insteadFault);
    await answer(insteadFault, call);
    return 'answered';
  }
  const ofResponse = faults.filter(isOfResponse);
  if (ofResponse.length === 0) return null;
  return new FaultInjector({
    faults: ofResponse,
    response,
    route: match.route,
    noteFaults: () => noteFaults(trace, ...ofResponse),
  });
}

const isOfResponse = (fault: Fault): fault is ResponseFault => !isEarly(fault);

/** Records faults of the request; returns the names of all so far. */
function noteFaults(trace: RequestTrace, ...faults: readonly Fault[]): string {
  const names = faults.map(({ name }) => name);
  const allNames = [...(trace.fault === null ? [] : [trace.fault]), ...names].join(', ');
  trace.fault = allNames;
  return allNames;
}

async function answer(fault: InsteadFault, call: FaultyCall): Promise<void> {
  const { response, trace } = call;
  switch (fault.name) {
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'silence':
      await delay(fault.seconds * 1000, response);
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
async function delay(ms: number, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const close = () => closed.abort();
  response.once('close', close);
  await setTimeout(ms, undefined, { signal: closed.signal }).catch(() => {});
  response.off('close', close);
}
