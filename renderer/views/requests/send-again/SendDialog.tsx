import { Button, Modal, NativeSelect } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { looksLikeJson } from '../../../../server/contract/conversation/body-content.ts';
import type { RequestInFull } from '../../../../server/contract/request-views.ts';
import {
  type KeptRequest,
  type MissingRequest,
  modelOf,
  type SentRequest,
  withModel,
} from '../../../../server/contract/sent-request.ts';
import bodyClasses from '../../../components/body/Body.module.css';
import { LazyCodeView } from '../../../components/body/BodyView.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { KeyChooser } from '../../../components/selects/FindSelect.tsx';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { useMessages } from '../../../messages/use-messages.ts';
import { formatJson } from '../../../state/captured/format-json.ts';
import { useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { useControlState } from '../../../state/control/use-control.ts';
import { useUnsaved } from '../../../state/edits/unsaved-edits.ts';
import { CaptureButton } from '../body/BodyTabs.tsx';
import { withPanelKeys } from '../keyboard/use-panel-keys.ts';
import { CompareModels } from './CompareModels.tsx';
import { Comparison } from './Comparison.tsx';
import classes from './SendAgain.module.css';
import { useRequestKey, useSecondAnswer } from './use-second-answer.ts';

/** Unchanged, with the body open for editing, or to several models. */
export type SendMode = 'again' | 'edit' | 'compare';

interface SendDialogProps {
  /** Null while closed. */
  mode: SendMode | null;
  original: SentRequest;
  full: RequestInFull;
  onClose(): void;
}

/** Sends a request again. If it was not captured, explains why and offers to capture the next ones. */
export function SendDialog({ mode, original, full, onClose }: SendDialogProps) {
  const { inspector: names, close } = useMessages();
  const isNarrow = useMediaQuery('(max-width: 799px)', false, { getInitialValueInEffect: false });
  return (
    <Modal
      opened={mode !== null}
      onClose={onClose}
      title={mode === 'compare' ? names.compare.title : names.sendAgain}
      size={980}
      fullScreen={isNarrow}
      closeOnClickOutside={false}
      // Escape is handled by `usePanelKeys`, which ignores it in text fields.
      closeOnEscape={false}
      closeButtonProps={{ 'aria-label': close }}
      transitionProps={{ duration: 0 }}
      attributes={{ header: { role: 'presentation' }, content: withPanelKeys }}
      styles={{ title: { fontWeight: 600, fontSize: 'var(--mantine-font-size-lg)' } }}
    >
      {original.kind === 'missing' ? (
        <Missing missing={original} />
      ) : mode === 'compare' ? (
        <CompareModels original={original} />
      ) : (
        <SendAgain original={original} full={full} isEdited={mode === 'edit'} />
      )}
    </Modal>
  );
}

function Missing({ missing: { why, request } }: { missing: MissingRequest }) {
  const { inspector: names, requests } = useMessages();
  const reasons = { ...requests.captureGaps, ...requests.captureAbsences, 'not-text': names.notText };
  return (
    <div className={classes.missing}>
      <p>{names.nothingToSend}</p>
      <p>{reasons[why]}</p>
      <CaptureButton keyId={request.keyId} />
    </div>
  );
}

interface SendAgainProps {
  original: KeptRequest;
  full: RequestInFull;
  /** The body is open for editing. */
  isEdited: boolean;
}

/** Sends the same request again, unchanged or edited, and shows its answer beside the first. */
function SendAgain({ original, full, isEdited }: SendAgainProps) {
  const { inspector: names } = useMessages();
  const keyChoice = useRequestKey(original.request.keyId);
  const draft = useDraft(original, keyChoice.key?.id ?? null);
  const secondAnswer = useSecondAnswer(keyChoice);
  const isRunning = secondAnswer.answer?.state === 'running';
  const { method, headers } = original;
  const [sentBody, setSentBody] = useState(draft.firstBody);
  useUnsaved(draft.editedBody !== null && draft.editedBody !== sentBody);
  const send = () => {
    if (!draft.call) return;
    setSentBody(draft.editedBody ?? draft.firstBody);
    void secondAnswer.run({ method, headers, ...draft.call });
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
          <Button variant="default" onClick={secondAnswer.stop}>
            {names.stop}
          </Button>
        ) : (
          <Button onClick={send} disabled={!draft.call || !keyChoice.key} data-autofocus>
            {secondAnswer.answer ? names.sendOnceMore : names.send}
          </Button>
        )}
        <span role="status" className={classes.soft}>
          {isRunning && names.waiting}
          {secondAnswer.answer?.state === 'failed' && names.notSent[secondAnswer.answer.reason]}
        </span>
      </div>
      {secondAnswer.answer?.state === 'here' && <Comparison full={full} second={secondAnswer.answer} />}
    </div>
  );
}

/** The request to send: byte for byte the original until something is changed. */
function useDraft(original: KeptRequest, keyId: string | null) {
  const { inspector: names } = useMessages();
  const firstModel = useMemo(() => modelOf(original), [original]);
  const choice = useModelChoice(keyId, 'chat');
  const [model, setModel] = useState(firstModel ?? '');
  const [provider, chooseProvider] = useState('');
  const [editedBody, setEdited] = useState<string | null>(null);
  const all = useControlState((state) => state.views?.providers ?? null);
  const firstBody = useMemo(() => readable(original.body), [original]);
  const problem = editedBody === null || !looksLikeJson(original.body) ? null : jsonProblem(editedBody);
  const qualifiedName = provider === '' ? model : `${provider}/${model}`;
  const body = editedBody ?? original.body;
  const isSameModel = firstModel === null || qualifiedName === firstModel;
  const call = problem === null ? pick(isSameModel, { path: original.path, body }, qualifiedName) : null;
  return {
    firstBody,
    editedBody,
    edit: setEdited,
    problem,
    call,
    provider,
    chooseProvider,
    providers: [
      { value: '', label: names.asRouted },
      ...(all ?? []).map(({ id, name }) => ({ value: id, label: name ?? id })),
    ],
    models: firstModel === null ? null : { ...choice, model, choose: setModel },
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
