import { Button, NativeSelect } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import type { KeptRequest } from '../../../../server/contract/sent-request.ts';
import { modelOf, withModel } from '../../../../server/contract/with-model.ts';
import { CommandProblem } from '../../../components/CommandProblem.tsx';
import { KeyChooser } from '../../../components/KeyChooser.tsx';
import { ModelField } from '../../../components/ModelField.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { useControlState } from '../../../state/use-control.ts';
import { useModelChoice } from '../../../state/use-model-choice.ts';
import { useUnsaved } from '../../../state/use-unsaved.ts';
import bodyClasses from '../body/Body.module.css';
import { formatJson, looksLikeJson } from '../body/format-json.ts';
import { LazyCodeView } from '../body/LazyCodeView.tsx';
import { Comparison } from './Comparison.tsx';
import classes from './SendAgain.module.css';
import { useRequestKey } from './use-request-key.ts';
import { useSecondAnswer } from './use-second-answer.ts';

interface SendAgainProps {
  sent: KeptRequest;
  shown: RequestInFull;
  /** The body is open for editing. */
  isEdited: boolean;
}

/** Sends the same request again, unchanged or edited, and shows its answer beside the first. */
export function SendAgain({ sent, shown, isEdited }: SendAgainProps) {
  const { inspector: names } = useMessages();
  const keyChoice = useRequestKey(sent.request.keyId);
  const draft = useDraft(sent, keyChoice.key?.id ?? null);
  const again = useSecondAnswer(keyChoice);
  const isRunning = again.answer?.state === 'running';
  const { method, headers } = sent;
  const [sentBody, setSentBody] = useState(draft.firstBody);
  useUnsaved(draft.edited !== null && draft.edited !== sentBody);
  const send = () => {
    if (!draft.call) return;
    setSentBody(draft.edited ?? draft.firstBody);
    void again.run({ method, headers, ...draft.call });
  };
  return (
    <div className={classes.again}>
      <div className={classes.fields}>
        <KeyChooser choice={keyChoice} />
        {draft.models && (
          <>
            <NativeSelect
              label={names.provider}
              value={draft.provider}
              onChange={(event) => draft.chooseProvider(event.currentTarget.value)}
              data={draft.providers}
            />
            <ModelField choice={draft.models} />
          </>
        )}
      </div>
      {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
      {isEdited && (
        <div className={`${bodyClasses.frame} ${bodyClasses.low}`}>
          <LazyCodeView
            text={draft.firstBody}
            language={looksLikeJson(draft.firstBody) ? 'json' : 'none'}
            label={names.requestBody}
            onChange={draft.edit}
          />
        </div>
      )}
      {draft.problem && (
        <p className={classes.problem} role="alert">
          {names.notJson(draft.problem)}
        </p>
      )}
      <div className={classes.acts}>
        {isRunning ? (
          <Button variant="default" onClick={again.stop}>
            {names.stop}
          </Button>
        ) : (
          <Button onClick={send} disabled={!draft.call || !keyChoice.key} data-autofocus>
            {again.answer ? names.sendOnceMore : names.send}
          </Button>
        )}
        <span role="status" className={classes.soft}>
          {isRunning && names.waiting}
          {again.answer?.state === 'failed' && names.notSent[again.answer.reason]}
        </span>
      </div>
      {again.answer?.state === 'here' && <Comparison shown={shown} second={again.answer} />}
    </div>
  );
}

/** The request to send: byte for byte the original until something is changed. */
function useDraft(sent: KeptRequest, keyId: string | null) {
  const { inspector: names } = useMessages();
  const firstModel = useMemo(() => modelOf(sent), [sent]);
  const listed = useModelChoice(keyId, 'chat');
  const [model, setModel] = useState(firstModel ?? '');
  const [provider, chooseProvider] = useState('');
  const [edited, setEdited] = useState<string | null>(null);
  const all = useControlState((state) => state.views?.providers ?? null);
  const firstBody = useMemo(() => readable(sent.body), [sent]);
  const problem = edited === null || !looksLikeJson(sent.body) ? null : jsonProblem(edited);
  const qualifiedName = provider === '' ? model : `${provider}/${model}`;
  const body = edited ?? sent.body;
  const isSameModel = firstModel === null || qualifiedName === firstModel;
  const call = problem === null ? pick(isSameModel, { path: sent.path, body }, qualifiedName) : null;
  return {
    firstBody,
    edited,
    edit: setEdited,
    problem,
    call,
    provider,
    chooseProvider,
    providers: [
      { value: '', label: names.asRouted },
      ...(all ?? []).map(({ id, name }) => ({ value: id, label: name ?? id })),
    ],
    models: firstModel === null ? null : { ...listed, model, choose: setModel },
  };
}

/** An edited body may name another model itself, so the field's model applies only if it was changed. */
function pick(isSameModel: boolean, call: Pick<KeptRequest, 'path' | 'body'>, model: string) {
  return isSameModel ? call : withModel(call, model);
}

function readable(body: string): string {
  if (!looksLikeJson(body)) return body;
  return formatJson(body, { longestString: Number.POSITIVE_INFINITY, describeRest: String }).text;
}

function jsonProblem(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
