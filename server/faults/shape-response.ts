/** Combines the effects of all faults on one response. */
import type { StreamFormat } from '../apis/core/stream-format.ts';
import { endsAnswer, type ResponseFault } from './fault-kinds.ts';
import { LateBytes, StopAtByte, shapeWhole, stopOf } from './shape-bytes.ts';
import { shapeEvents } from './shape-events.ts';
import { type Shape, type Step, send } from './steps.ts';

/** `stream` is null for an answer that is not a stream. Returns null if the faults do not change the body. */
export function shapeResponse(faults: readonly ResponseFault[], stream: StreamFormat | null): Shape | null {
  // Faults that end the answer act on the output of the others.
  const orderedFaults = [...faults.filter((fault) => !endsAnswer(fault)), ...faults.filter(endsAnswer)];
  const shapes = stream ? shapesOfStream(orderedFaults, stream) : orderedFaults.map(shapeWhole);
  const acting = shapes.filter((shape) => shape !== null);
  const [first] = acting;
  return acting.length > 1 ? new ShapesInTurn(acting) : (first ?? null);
}

function shapesOfStream(faults: readonly ResponseFault[], stream: StreamFormat): (Shape | null)[] {
  const lateEvent = faults.find(({ name }) => name === 'late-event');
  const stop = faults.find((fault) => fault.name === 'stall' || fault.name === 'cut');
  return [
    lateEvent?.name === 'late-event' ? new LateBytes(lateEvent) : null,
    shapeEvents(faults, stream),
    stop?.bytes === undefined ? null : new StopAtByte(stop.bytes, stopOf(stop)),
  ];
}

/** Each shape changes the output of the one before it. */
class ShapesInTurn implements Shape {
  readonly #shapes: readonly Shape[];

  constructor(shapes: readonly Shape[]) {
    this.#shapes = shapes;
  }

  push(bytes: Buffer): Step[] {
    return this.#through([send(bytes)], 0);
  }

  end(): Step[] {
    return this.#shapes.flatMap((shape, index) => this.#through(shape.end(), index + 1));
  }

  #through(steps: readonly Step[], from: number): Step[] {
    return this.#shapes
      .slice(from)
      .reduce<Step[]>(
        (steps, shape) => steps.flatMap((step) => (step.kind === 'send' ? shape.push(step.bytes) : [step])),
        [...steps],
      );
  }
}
