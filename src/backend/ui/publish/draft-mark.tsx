import { State } from '../components/badge.tsx'
import { useServerDraft } from '../edit/draft.ts'
import { isWithin } from '../edit/values.ts'
import type { DraftEntry } from './api.ts'
import { marksTexts } from './publish-texts.ts'

const tones = { added: 'good', changed: 'info', removed: 'bad' } as const

/** Returns how the draft of a server changes an entry; undefined if it does not. */
export function useDraftStatus(at: string): DraftEntry['status'] | undefined {
  const entries = useServerDraft()?.entries ?? []
  const found = entries.find((one) => one.at !== null && isWithin(at, one.at))
  if (found !== undefined) return found.status
  return entries.some((one) => one.at !== null && isWithin(one.at, at)) ? 'changed' : undefined
}

/** Marks an entry of a list as new or changed in the draft of a server. */
export function DraftMark({ at }: { readonly at: string }) {
  const status = useDraftStatus(at)
  return status === undefined ? null : <State tone={tones[status]}>{marksTexts[status]}</State>
}

/** The name of an entry on a list. */
export function MarkedName({ name, at }: { readonly name: string; readonly at: string }) {
  return (
    <>
      <bdi translate="no">{name}</bdi> <DraftMark at={at} />
    </>
  )
}
