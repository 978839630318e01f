import { TextInput } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { send } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { SaveForm } from '../components/save-form.tsx'
import { editing } from '../strings/editing.ts'
import { refreshDraft } from './draft.ts'

const { rename: texts } = editing

interface Renaming {
  readonly uses: readonly { readonly at: string; readonly source: string | null }[]
}

interface RenameDialogProps {
  /** The JSON pointer of the entry. */
  readonly at: string
  readonly name: string
  /** Another name that is valid and free, to list the uses before one is typed. */
  readonly example: string
  /** What renaming means for others. */
  readonly text?: string
  problemOf(to: string): string | undefined
  onRenamed(to: string): Promise<unknown>
  onClose(): void
}

/** Renames an entry of the definition and everything that refers to it, which is listed before. */
export function RenameDialog({ at, name, example, text, problemOf, onRenamed, onClose }: RenameDialogProps) {
  const queries = useQueryClient()
  const [to, setTo] = useState(name)
  const problem = to === name ? undefined : problemOf(to)
  // The uses do not depend on the new name.
  const preview = useQuery({
    queryKey: ['draft', 'rename', at],
    queryFn: ({ signal }) =>
      send<Renaming>('POST', 'draft/rename', { body: { at, to: example, preview: true }, signal }),
    staleTime: 0,
  })
  return (
    <Dialog title={texts.title(name)} onClose={onClose}>
      <SaveForm
        action={texts.action}
        onCancel={onClose}
        onSave={async () => {
          if (to === name || problem !== undefined) return
          await send('POST', 'draft/rename', { body: { at, to, preview: false } })
          await refreshDraft(queries)
          announce(texts.done(name, to))
          onClose()
          await onRenamed(to)
        }}
      >
        {(errorOf) => (
          <>
            <TextInput
              label={texts.name}
              description={text}
              name="to"
              className="mono-input"
              data-autofocus
              required
              error={problem ?? errorOf('to')}
              value={to}
              onChange={(event) => setTo(event.currentTarget.value.trim())}
            />
            {preview.isError ? <ProblemAlert error={preview.error} /> : null}
            {preview.data === undefined ? null : (
              <div className="stack-small">
                <p>{texts.uses(preview.data.uses.length)}</p>
                <ul className="use-list">
                  {preview.data.uses.map(({ at: place, source }) => (
                    <li key={`${source} ${place}`}>
                      <code className="wrap">{place}</code> <span className="soft mono">{source}</span>
                    </li>
                  ))}
                </ul>
              </div>
            )}
          </>
        )}
      </SaveForm>
    </Dialog>
  )
}
