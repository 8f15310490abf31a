import { Button } from '@mantine/core';
import { Component, type ReactNode } from 'react';
import { useMessages } from '../../messages/use-messages.ts';
import { useControlState } from '../../state/control/use-control.ts';
import classes from './ScreenBoundary.module.css';

/** Confines an error to its screen. */
export class ScreenBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    return this.state.error === null ? this.props.children : <BrokenScreen error={this.state.error} />;
  }
}

interface BrokenScreenProps {
  error: unknown;
  /** The screen's files could not be fetched, so none of its code has run. */
  isUnloaded?: boolean;
}

export function BrokenScreen({ error, isUnloaded = false }: BrokenScreenProps) {
  const { screenBroken: names } = useMessages();
  const isLost = useControlState((state) => state.connection === 'lost');
  const text = isUnloaded ? [names.unloaded, names.unloadedLost] : [names.text, names.textLost];
  return (
    <div className={classes.broken} role="alert">
      <h1 className={classes.title}>{isUnloaded ? names.unloadedTitle : names.title}</h1>
      <p>{text[Number(isLost)]}</p>
      {!isLost && (
        <>
          <details className={classes.details}>
            <summary>{names.details}</summary>
            <pre className={classes.error}>{String(error)}</pre>
          </details>
          <Button onClick={() => location.reload()}>{names.reload}</Button>
        </>
      )}
    </div>
  );
}
