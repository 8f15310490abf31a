import { Button, Textarea } from '@mantine/core';
import { IconColumns2, IconMessage2, IconMessagePlus, IconPencil, IconRefresh, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, type RefObject, useEffect, useRef } from 'react';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { CopyButton } from '../../../components/copying/CopyButton.tsx';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { AnswerText } from '../../../components/text/AnswerText.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import { findMessage, isWordless, type Turn } from '../../../state/chat/conversation.ts';
import { countSet } from '../../../state/chat/sampling.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import { type ModelChoice, useModelChoice } from '../../../state/choices/use-model-choice.ts';
import { shortcutOf } from '../../../state/window/shortcuts.ts';
import { AnswerFacts, FailureNote } from '../call/ExchangeView.tsx';
import { FilePicker, PlaygroundPanel } from '../call/PlaygroundPanel.tsx';
import { SamplingFields } from '../call/SamplingFields.tsx';
import classes from '../Playground.module.css';
import {
  addLane,
  beginEdit,
  beginNewChat,
  cancelEdit,
  chatExchanges,
  removeLane,
  useChat,
  useKeptChat,
} from './use-chat.ts';

type Chat = ReturnType<typeof useChat>;

/** A streamed conversation, optionally with tools, an image, or several models side by side. */
export function ChatPanel({ keyChoice }: { keyChoice: KeyChoice }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const models = useModelChoice(keyChoice.key?.id ?? null, 'chat');
  useKeptChat();
  const session = useChat(keyChoice, models.model);
  const { chat, change, runners, isRunning } = session;
  const messageInput = useRef<HTMLTextAreaElement>(null);
  const [first = []] = chat.lanes;
  const isSeveral = chat.lanes.length > 1;
  const laneModels = [models.model, ...chat.otherModels];
  const edit = (lane: number, index: number) => {
    beginEdit(lane, index);
    messageInput.current?.focus();
  };
  const laneOf = (lane: number) => {
    const runner = runners[lane] ?? runners[0];
    const turns = chat.lanes[lane] ?? [];
    const hasModel = laneModels[lane]?.trim() !== '';
    return {
      runner,
      head: isSeveral && <LaneHead lane={lane} models={models} session={session} />,
      result: (
        <>
          <ConversationView
            turns={turns}
            isRunning={runner.isRunning}
            isBlocked={isRunning || !runner.canRun || !hasModel}
            isModelMissing={isSeveral && !hasModel}
            editedTurn={chat.editing && findMessage(turns, chat.editing.message, chat.editing.index)}
            onEdit={(index) => edit(lane, index)}
            onRegenerate={(index) => void session.regenerate(lane, index)}
          />
          {isSeveral && <FailureNote {...(session.failures[lane] ?? { failure: null })} />}
        </>
      ),
    };
  };
  const others = chat.otherModels.map((_model, index) => laneOf(index + 1));
  return (
    <PlaygroundPanel
      title={names.panels.chat}
      keyChoice={keyChoice}
      models={{ ...models, models: withoutTaken(models.models, chat.otherModels) }}
      lanes={[laneOf(0), ...others]}
      failures={isSeveral ? [] : session.failures}
      isIncomplete={session.isIncomplete}
      onSend={() => void session.send()}
      onStop={session.stop}
      headActions={
        <>
          {chat.lanes.length < chatExchanges.length && (
            <Button
              size="xs"
              variant="default"
              leftSection={<IconColumns2 size={14} />}
              disabled={isRunning}
              onClick={addLane}
            >
              {names.addModel}
            </Button>
          )}
          {first.length > 0 && !isRunning && (
            <Button size="xs" variant="default" leftSection={<IconMessagePlus size={14} />} onClick={beginNewChat}>
              {names.clear}
            </Button>
          )}
        </>
      }
      actions={
        <>
          <FilePicker
            label={names.attachImage}
            accept="image/*"
            file={chat.image}
            onPick={(image) => change({ image, lostFile: false })}
          />
          {chat.lostFile && <span className={classes.soft}>{names.lostFile}</span>}
          {chat.editing && (
            <span className={classes.editing} role="status">
              {names.editing}
              <Button size="compact-xs" variant="default" onClick={cancelEdit}>
                {names.cancelEdit}
              </Button>
            </span>
          )}
        </>
      }
      options={{
        fields: <ChatOptions session={session} />,
        setCount: countSet(chat.sampling, chat.system, chat.tools),
      }}
    >
      <MessageField
        session={session}
        inputRef={messageInput}
        canSend={!session.isIncomplete && !isRunning && runners[0].canRun && models.model !== ''}
        onEdit={(index) => edit(0, index)}
      />
      {laneModels.map(
        (model, lane) =>
          lane > 0 &&
          model.trim() === '' && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a lane has no other identity
            <p key={lane} className={classes.soft}>
              {names.modelMissing(formats.number(lane + 1))}
            </p>
          ),
      )}
    </PlaygroundPanel>
  );
}

/** The models that no other lane has; all of them if there are no others. */
function withoutTaken(models: ModelChoice['models'], taken: readonly string[]): ModelChoice['models'] {
  const free = models.filter(({ id }) => !taken.includes(id));
  return free.length > 0 ? free : models;
}

interface LaneHeadProps {
  lane: number;
  models: ModelChoice;
  session: Chat;
}

/** The model of a lane, and for all but the first, which has that of the panel, its field. */
function LaneHead({ lane, models, session: { chat, change, isRunning } }: LaneHeadProps) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const input = useRef<HTMLInputElement>(null);
  const model = lane === 0 ? models.model : (chat.otherModels[lane - 1] ?? '');
  const isNew = lane > 0 && model === '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the lane has been added
  useEffect(() => {
    if (isNew) input.current?.focus();
  }, []);
  if (lane === 0) return <p className={classes.laneHead}>{model}</p>;
  const number = formats.number(lane + 1);
  const choose = (chosen: string) => change({ otherModels: chat.otherModels.with(lane - 1, chosen) });
  const taken = [models.model, ...chat.otherModels.toSpliced(lane - 1, 1)];
  return (
    <div className={classes.laneHead}>
      <ModelField
        label={names.modelOf(number)}
        isBare
        inputRef={input}
        choice={{ ...models, models: withoutTaken(models.models, taken), model, choose }}
      />
      <IconAction
        label={names.removeModel(number)}
        icon={<IconX size={16} />}
        isDisabled={isRunning}
        onClick={() => removeLane(lane)}
      />
    </div>
  );
}

interface MessageFieldProps {
  session: Chat;
  inputRef: RefObject<HTMLTextAreaElement | null>;
  canSend: boolean;
  onEdit(turn: number): void;
}

function MessageField({ session, inputRef, canSend, onEdit }: MessageFieldProps) {
  const { playground: names } = useMessages();
  const { chat, change, isRunning } = session;
  const [first = []] = chat.lanes;
  const wantsResult = (first.at(-1)?.toolCalls.length ?? 0) > 0;
  const label = wantsResult && !chat.editing ? names.toolResult : names.message;
  const lastSaid = first.findLastIndex(({ role }) => role !== 'assistant');
  const acts: Partial<Record<string, (() => void) | false>> = {
    send: () => canSend && void session.send(),
    'edit-last': chat.text === '' && lastSaid !== -1 && !isRunning && (() => onEdit(lastSaid)),
    stop: isRunning ? session.stop : chat.editing !== null && cancelEdit,
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const act = event.shiftKey ? false : acts[shortcutOf('playground', event.nativeEvent) ?? ''];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <Textarea
      ref={inputRef}
      aria-label={label}
      placeholder={label}
      value={chat.text}
      onChange={(event) => change({ text: event.currentTarget.value })}
      onKeyDown={onKeyDown}
      autosize
      minRows={1}
      maxRows={8}
    />
  );
}

function ChatOptions({ session: { chat, change, areToolsWrong } }: { session: Chat }) {
  const { playground: names } = useMessages();
  return (
    <>
      <Textarea
        label={names.system}
        value={chat.system}
        onChange={(event) => change({ system: event.currentTarget.value })}
        autosize
        minRows={3}
        maxRows={10}
        data-autofocus
      />
      <SamplingFields draft={chat.sampling} onChange={(sampling) => change({ sampling })} />
      <Textarea
        label={names.tools}
        description={names.toolsHint}
        value={chat.tools}
        onChange={(event) => change({ tools: event.currentTarget.value })}
        error={areToolsWrong && names.toolsWrong}
        spellCheck={false}
        autosize
        minRows={3}
        maxRows={12}
      />
    </>
  );
}

interface ConversationViewProps {
  turns: readonly Turn[];
  isRunning: boolean;
  /** Nothing can be sent now. */
  isBlocked: boolean;
  /** One of several models is still to be chosen. */
  isModelMissing: boolean;
  /** The message that is being edited. */
  editedTurn: number | null;
  onEdit(index: number): void;
  onRegenerate(index: number): void;
}

/** The conversation so far. */
function ConversationView({ turns, isRunning, isModelMissing, editedTurn, ...rest }: ConversationViewProps) {
  const { playground: names } = useMessages();
  if (turns.length === 0) {
    return (
      <div className={classes.empty}>
        <IconMessage2 size={28} stroke={1.3} aria-hidden />
        <p className={classes.words}>{isModelMissing ? names.modelToChoose : names.chatEmpty}</p>
        {!isModelMissing && <p className={classes.words}>{names.messageHint}</p>}
      </div>
    );
  }
  return (
    <ol className={classes.turns}>
      {turns.map((turn, index) => (
        <TurnView
          key={turn.id}
          {...{ ...rest, turn, index }}
          isEdited={index === editedTurn}
          isStreaming={isRunning && index === turns.length - 1}
        />
      ))}
    </ol>
  );
}

interface TurnViewProps extends Pick<ConversationViewProps, 'isBlocked' | 'onEdit' | 'onRegenerate'> {
  turn: Turn;
  index: number;
  isEdited: boolean;
  isStreaming: boolean;
}

function TurnView({ turn, index, isEdited, isStreaming, isBlocked, onEdit, onRegenerate }: TurnViewProps) {
  const { playground: names } = useMessages();
  const isAnswer = turn.role === 'assistant';
  const author = turn.model ?? names.roles[turn.role];
  const regenerate = isBlocked ? undefined : () => onRegenerate(index);
  return (
    <li className={isAnswer ? classes.answer : classes.said} data-edited={isEdited || undefined}>
      <div className={classes.role}>
        <span className={classes.author}>{author}</span>
        {!isStreaming && (
          <span className={classes.turnActs}>
            {turn.text !== '' && <CopyButton value={turn.text} label={author} />}
            {isAnswer ? (
              <IconAction
                label={names.regenerate}
                icon={<IconRefresh size={16} />}
                isDisabled={isBlocked}
                onClick={() => onRegenerate(index)}
              />
            ) : (
              <IconAction
                label={names.edit}
                icon={<IconPencil size={16} />}
                isDisabled={isBlocked}
                onClick={() => onEdit(index)}
              />
            )}
          </span>
        )}
      </div>
      {turn.image && <img className={classes.shown} src={turn.image} alt={names.attachedImage} />}
      {turn.lostImage && <p className={classes.soft}>{names.lostImage}</p>}
      {isAnswer ? <AnswerText text={turn.text} /> : <p className={classes.words}>{turn.text}</p>}
      {isStreaming && isWordless(turn) && <p className={classes.soft}>…</p>}
      {turn.toolCalls.map((call) => (
        <p key={call.id} className={classes.toolCall}>
          {names.toolCall} <code>{`${call.name}(${call.arguments})`}</code>
        </p>
      ))}
      <FailureNote failure={turn.failure} requestId={turn.requestId} onRetry={regenerate} />
      {isAnswer && <AnswerFacts requestId={turn.requestId} />}
    </li>
  );
}
