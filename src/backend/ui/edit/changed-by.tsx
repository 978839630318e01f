import { RelativeTime } from '../components/time.tsx'
import { sessionStore } from '../session/session.ts'
import { useStore } from '../session/store.ts'
import { useDraft } from './draft.ts'
import type { DraftEdit, TextEdit } from './draft-edit.ts'
import { isWithin } from './values.ts'
import { changedByTexts as texts } from './edit-texts.ts'

/** Who changed what is being edited, and when: "Ann changed this 2 min. ago". */
export function ChangedBy({ edit }: { readonly edit: DraftEdit | TextEdit }) {
  const history = useDraft()?.history ?? []
  const me = useStore(sessionStore)?.user.name
  const last = history.find(({ files, entries }) =>
    'get' in edit
      ? edit.others.some(({ at }) => entries.some((one) => isWithin(at, one) || isWithin(one, at)))
      : files.includes(edit.loaded?.file ?? ''),
  )
  if (last === undefined) return <>{texts.unknown} </>
  return (
    <>
      <bdi>{last.by === null ? texts.folder : last.by === me ? texts.me : texts.user(last.by)}</bdi>{' '}
      <RelativeTime value={last.at} />.{' '}
    </>
  )
}
