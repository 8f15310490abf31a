import { Screen } from '../../components/Screen.tsx';
import { RequestsSection } from './RequestsSection.tsx';

/** What was asked, as it comes. */
export function Requests() {
  return (
    <Screen name="requests">
      <RequestsSection />
    </Screen>
  );
}
