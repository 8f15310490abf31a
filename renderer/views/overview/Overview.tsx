/** The first screen: is it on, how it is reached, what it may use, who may use it, and what runs now. */
import { KeysSection } from './KeysSection.tsx';
import classes from './Overview.module.css';
import { ProvidersSection } from './ProvidersSection.tsx';
import { RequestsSection } from './RequestsSection.tsx';
import { StatusSection } from './StatusSection.tsx';

export function Overview() {
  return (
    <div className={classes.overview}>
      <StatusSection />
      <div className={classes.pair}>
        <ProvidersSection />
        <KeysSection />
      </div>
      <RequestsSection />
    </div>
  );
}
