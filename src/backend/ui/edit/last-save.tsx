import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { announce } from '../components/announce.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { uiPath } from '../config.ts'
import { useStore } from '../session/store.ts'
import { isOneOf } from './describe-save.ts'
import { useServerDraft } from './draft.ts'
import { lastSave, undoLastSave, type LastSaved } from './save-change.ts'
import { Warnings } from './warnings.tsx'
import { editingTexts, warningsTexts } from './edit-texts.ts'
import { publishTexts as publish } from '../publish/publish-texts.ts'

/** Says when something was saved last in this window, and undoes it. */
export function LastSave() {
  const saved = useStore(lastSave)
  const queries = useQueryClient()
  const isServer = useServerDraft() !== undefined
  const undoing = useMutation({
    mutationFn: () => undoLastSave(queries),
    onSuccess: () => announce(editingTexts.undone),
  })
  if (saved === undefined || !isShownHere(saved)) return null
  const { saved_at: at, changes, warnings, canUndo } = saved
  return (
    <>
      {warnings.length === 0 ? null : (
        // Closed at first: the bar that contains it covers a part of the page.
        <details className="save-warnings">
          <summary>
            <span role="status">{warningsTexts.saved(warnings.length)}</span>
          </summary>
          <Warnings title={warningsTexts.saved(warnings.length)} warnings={warnings} isTitled />
        </details>
      )}
      <div className="save-row last-save">
        <p className="save-state soft" role="status">
          {isServer ? publish.savedAt(new Date(at)) : editingTexts.savedAt(new Date(at), changes)}
          {canUndo ? null : <span>{editingTexts.noUndo}</span>}
        </p>
        {canUndo ? (
          <Button
            variant="default"
            leftSection={<Undo2 size={14} aria-hidden />}
            loading={undoing.isPending}
            onClick={() => undoing.mutate()}
          >
            {editingTexts.undoOf(namesOf(saved))}
          </Button>
        ) : null}
        {undoing.isError ? <ProblemAlert error={undoing.error} /> : null}
      </div>
    </>
  )
}

function isShownHere({ pages, from }: LastSaved): boolean {
  const here = stepsOf(location.pathname)
  return here[0] === 'changes' || here[0] === 'publish' || isOneOf([...pages, stepsOf(from)], here)
}

function stepsOf(path: string): readonly string[] {
  return path.slice(uiPath.length).split('/').filter(Boolean).map(decodeURIComponent)
}

/** What a save changed: fields of entries of waypost.yml, or files. */
function namesOf({ entries, inverse: { files } }: LastSaved): readonly string[] {
  if (entries.length > 0) return entries.map(({ name, fields }) => editingTexts.fieldsOf(fields, name))
  return [...new Set(files.map(({ file }) => file.split('/').at(-1) ?? file))]
}
