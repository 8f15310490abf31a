import { formatMessage } from './coded.ts';
import type { ControlProblem } from './control-problem.ts';
import { controlProblemTexts } from './control-problem-texts.ts';
import { type ErrorCode, GatewayError } from './errors.ts';

/** A translatable error of the control plane; its `message` is the English text. */
export function controlError(code: ErrorCode, problem: ControlProblem, param?: string): GatewayError {
  return new GatewayError(code, formatMessage(controlProblemTexts, problem), {
    problem,
    ...(param !== undefined && { param }),
  });
}
