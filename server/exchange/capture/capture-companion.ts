import type { NextAttempt } from '../../routing/attempt-plan.ts';
import { type CaptureSwitch, captureHeader } from '../../store/rules/capture-switch.ts';
import type { LocalReply } from '../answer/local-reply.ts';
import type { AdmittedRequest, Companion, ReceivedCall, Visit } from '../course/companion.ts';
import type { AttemptTrace } from '../record/exchange-trace.ts';
import { secretsOf } from '../redact/redact-credential.ts';
import { ExchangeCapture } from './exchange-capture.ts';
import { type RecentCaptures, recentBodyBytes, type WaitingCaptures } from './recent-captures.ts';

export interface CapturePorts {
  captureSwitch: Pick<CaptureSwitch, 'causeOf' | 'isRecent'>;
  recentCaptures: Pick<RecentCaptures, 'keep'>;
  /** Stores headers and bodies. */
  captures: WaitingCaptures;
}

/** Keeps what is sent and received: because it was asked for, or for a while and in memory only. */
export class CaptureCompanion implements Companion {
  readonly #ports: CapturePorts;

  constructor(ports: CapturePorts) {
    this.#ports = ports;
  }

  admitted(admitted: AdmittedRequest): Visit | null {
    const { request, trace, member, snapshot } = admitted;
    const { captureSwitch, captures, recentCaptures } = this.#ports;
    const cause = captureSwitch.causeOf(member, request.headers[captureHeader]);
    if (cause === null && !captureSwitch.isRecent(member)) return null;
    trace.captured = cause;
    const maxBytes = cause === null ? recentBodyBytes : snapshot.settings.capture.maxBytes;
    const capture = new ExchangeCapture({ maxBytes, request, secrets: trace.secrets });
    admitted.taps.push(capture.response);
    return new CaptureVisit(capture, trace.secrets, () => {
      if (cause === null) recentCaptures.keep(trace.id, capture.hold(trace));
      else captures.add(trace.id, capture.exchange(trace));
    });
  }
}

class CaptureVisit implements Visit {
  readonly ended: () => void;
  readonly #capture: ExchangeCapture;
  readonly #secrets: readonly string[];

  /** @param keep called when the exchange has ended */
  constructor(capture: ExchangeCapture, secrets: readonly string[], keep: () => void) {
    this.#capture = capture;
    this.#secrets = secrets;
    this.ended = keep;
  }

  unusable(start: Buffer, isCut: boolean): void {
    this.#capture.unusable(start, isCut);
  }

  received({ body }: ReceivedCall): false {
    this.#capture.received(body);
    return false;
  }

  sent(attempt: AttemptTrace, { credential }: NextAttempt): void {
    attempt.tap = this.#capture.attempt(secretsOf(this.#secrets, credential));
  }

  replied(reply: LocalReply, isError: boolean): void {
    if (isError) this.#capture.refused(reply);
    else this.#capture.answeredBySluice();
  }
}
