import { Button, SegmentedControl } from '@mantine/core';
import { IconAdjustmentsHorizontal, IconPaperclip, IconPlayerStopFilled, IconSend, IconX } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { useLocation, useSearch } from 'wouter';
import { ChooseFileButton } from '../../../components/buttons/ChooseFileButton.tsx';
import { IconAction } from '../../../components/buttons/IconAction.tsx';
import { DrawerFrame } from '../../../components/dialogs/ModalFrame.tsx';
import { CommandProblem } from '../../../components/feedback/CommandProblem.tsx';
import { Section } from '../../../components/layout/Section.tsx';
import { withIndexKeys } from '../../../components/lists/with-index-keys.ts';
import { KeyChooser } from '../../../components/selects/FindSelect.tsx';
import { ModelField } from '../../../components/selects/ModelField.tsx';
import { useLocalization, useMessages } from '../../../messages/use-messages.ts';
import type { Failure } from '../../../state/calls/exchange.ts';
import type { KeyChoice } from '../../../state/choices/use-key-choice.ts';
import type { ModelChoice } from '../../../state/choices/use-model-choice.ts';
import classes from '../Playground.module.css';
import { ExchangeView, FailureNote, isExchangePart } from './ExchangeView.tsx';
import type { ExchangeRunner } from './use-exchange.ts';

/** One call at a time, and its answer. */
interface Lane {
  runner: ExchangeRunner;
  /** The answer. */
  result: ReactNode;
  /** Chooses the model of a lane after the first. */
  head?: ReactNode;
}

/** Rarely changed fields, in a drawer. */
interface PanelOptions {
  fields: ReactNode;
  /** How many of them are not left to the model. */
  setCount: number;
}

interface PlaygroundPanelProps {
  title: string;
  keyChoice: KeyChoice;
  models: ModelChoice;
  /** Side by side. */
  lanes: readonly [Lane, ...Lane[]];
  /** Reasons why there is no complete answer that no lane shows. Defaults to the first lane's failure. */
  failures?: readonly { failure: Failure | null; requestId: string | null }[];
  /** Shown at the end of the panel's header. */
  headActions?: ReactNode;
  /** Shown before the send or stop button. */
  actions?: ReactNode;
  /** Something required is still missing. */
  isIncomplete?: boolean;
  /** The runners are idle, but the operation is not finished. */
  isBusy?: boolean;
  onSend(): void;
  onStop?: () => void;
  options?: PanelOptions;
  /** The fields of the form. */
  children: ReactNode;
}

/**
 * The layout of every panel: key and model, the answer or what was sent and received for it, which scrolls, and the form with its
 * errors, which stays at the bottom.
 */
export function PlaygroundPanel(props: PlaygroundPanelProps) {
  const { title, keyChoice, models, lanes, options, children } = props;
  const { messages } = useLocalization();
  const { playground: names, models: modelNames } = messages;
  const [view, setView] = useState('answer');
  const modelInput = useRef<HTMLInputElement>(null);
  useModelFromAddress(models);
  const [{ runner }] = lanes;
  const { failure = null, requestId = null } = runner.exchange ?? {};
  const { failures = [{ failure, requestId }] } = props;
  const isRunning = lanes.some((lane) => lane.runner.isRunning) || (props.isBusy ?? false);
  const canSend = runner.canRun && !props.isIncomplete && models.model.trim() !== '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isRunning && canSend) props.onSend();
  };
  return (
    <Section
      title={title}
      fills
      action={
        <>
          <SegmentedControl
            size="xs"
            aria-label={names.view}
            value={view}
            onChange={setView}
            data={(['answer', 'request', 'reply'] as const).map((value) => ({ value, label: names.views[value] }))}
          />
          {options && <OptionsButton options={options} />}
          {props.headActions}
        </>
      }
    >
      <div className={classes.choices}>
        <ModelField choice={models} inputRef={modelInput} />
        <KeyChooser choice={keyChoice} />
        {keyChoice.problem && <CommandProblem problem={keyChoice.problem} />}
      </div>
      <div className={classes.lanes} data-several={lanes.length > 1 || undefined}>
        {withIndexKeys(lanes).map(({ key, value: lane }) => (
          <div key={key} className={classes.lane}>
            {lane.head}
            <AutoScrollBox isRunning={isRunning}>
              {isExchangePart(view) ? <ExchangeView exchange={lane.runner.exchange} part={view} /> : lane.result}
            </AutoScrollBox>
          </div>
        ))}
      </div>
      <form className={classes.form} onSubmit={submit}>
        {withIndexKeys(failures).map(({ key, value }) => (
          <FailureNote
            key={key}
            failure={value.failure}
            requestId={value.requestId}
            onRetry={canSend && !isRunning ? props.onSend : undefined}
            onChooseModel={() => modelInput.current?.focus()}
          />
        ))}
        {children}
        {models.isLoaded && models.model === '' && (
          <p className={classes.soft}>{models.models.length > 0 ? names.noModelFor : modelNames.picker.none}</p>
        )}
        <div className={classes.acts}>
          {props.actions}
          {isRunning ? (
            <Button
              className={classes.send}
              size="xs"
              variant="default"
              leftSection={<IconPlayerStopFilled size={14} />}
              onClick={props.onStop ?? runner.stop}
            >
              {names.stop}
            </Button>
          ) : (
            <Button
              className={classes.send}
              size="xs"
              type="submit"
              leftSection={<IconSend size={14} />}
              disabled={!canSend}
            >
              {names.send}
            </Button>
          )}
        </div>
      </form>
    </Section>
  );
}

/** Says how many parameters are set, and opens them. */
function OptionsButton({ options }: { options: PanelOptions }) {
  const { messages, formats } = useLocalization();
  const names = messages.playground;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={<IconAdjustmentsHorizontal size={14} />}
        onClick={() => setOpen(true)}
      >
        {options.setCount > 0 ? names.parametersSet(formats.number(options.setCount)) : names.parameters}
      </Button>
      <DrawerFrame title={names.parameters} opened={isOpen} onClose={() => setOpen(false)}>
        <div className={classes.options}>{options.fields}</div>
      </DrawerFrame>
    </>
  );
}

/** Selects the model named in the address, once: `/playground/chat?model=gpt-5`. */
function useModelFromAddress(choice: ModelChoice): void {
  const model = new URLSearchParams(useSearch()).get('model');
  const [path, goTo] = useLocation();
  const apply = useEffectEvent((name: string) => {
    choice.choose(name);
    goTo(path, { replace: true });
  });
  useEffect(() => {
    if (model) apply(model);
  }, [model]);
}

/** The distance from the end, in pixels, up to which the box still follows new content. */
const nearEndPx = 32;

interface AutoScrollBoxProps {
  /** An answer is expected. When this becomes true, the box scrolls to the end again. */
  isRunning: boolean;
  children: ReactNode;
}

/** Scrolls to new content, unless the person has scrolled up to read. */
function AutoScrollBox({ isRunning, children }: AutoScrollBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const isAtEnd = useRef(true);
  const lastTopPx = useRef(0);
  useEffect(() => {
    if (!isRunning) return;
    isAtEnd.current = true;
    box.current?.scrollTo({ top: box.current.scrollHeight });
  }, [isRunning]);
  useEffect(() => {
    const container = box.current;
    if (!container || !content.current) return;
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) container.scrollTop = container.scrollHeight;
    });
    observer.observe(content.current);
    return () => observer.disconnect();
  }, []);
  const updatePosition = () => {
    const { scrollHeight = 0, scrollTop = 0, clientHeight = 0 } = box.current ?? {};
    // The event is fired after scrolling, so text added in between does not mean that the person has left the end.
    if (scrollHeight - scrollTop - clientHeight < nearEndPx) isAtEnd.current = true;
    else if (scrollTop < lastTopPx.current) isAtEnd.current = false;
    lastTopPx.current = scrollTop;
  };
  return (
    <div className={classes.result} ref={box} onScroll={updatePosition} aria-live="polite">
      <div className={classes.resultInner} ref={content}>
        {children}
      </div>
    </div>
  );
}

interface FilePickerProps {
  label: string;
  accept: string;
  file: File | null;
  onPick(file: File | null): void;
}

/** Chooses a file, shows its name, and lets the person remove it. */
export function FilePicker({ label, accept, file, onPick }: FilePickerProps) {
  const { playground: names } = useMessages();
  return (
    <div className={classes.pick}>
      <ChooseFileButton accept={accept} icon={<IconPaperclip size={14} />} onChoose={onPick}>
        {label}
      </ChooseFileButton>
      {file && (
        <>
          <span className={classes.fileName}>{file.name}</span>
          <IconAction label={names.removeFile(file.name)} icon={<IconX size={14} />} onClick={() => onPick(null)} />
        </>
      )}
    </div>
  );
}
