import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { announce } from '../components/announce.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { uiPath } from '../config.ts'
import { useStore } from '../session/store.ts'
import { editing as texts } from '../strings/editing.ts'
import { lastSave, undoLastSave } from './draft.ts'
import { keysOf } from './values.ts'

/** Says when something was saved last in this window, and undoes it. */
export function LastSave() {
  const saved = useStore<LastSaved | undefined>(lastSave)
  const queries = useQueryClient()
  const undoing = useMutation({
    mutationFn: () => undoLastSave(queries),
    onSuccess: () => announce(texts.undone),
  })
  if (saved === undefined || !isAbout(saved, stepsOf(location.pathname))) return null
  return (
    <div className="save-row last-save">
      <p className="save-state soft" role="status">
        {texts.savedAt(new Date(saved.saved_at), saved.changes)}
      </p>
      <Button
        variant="default"
        leftSection={<Undo2 size={14} aria-hidden />}
        loading={undoing.isPending}
        onClick={() => undoing.mutate()}
      >
        {texts.undoOf(namesOf(saved))}
      </Button>
      {undoing.isError ? <ProblemAlert error={undoing.error} /> : null}
    </div>
  )
}

type LastSaved = NonNullable<ReturnType<typeof lastSave.get>>

/** The pages of the parts of waypost.yml. The other parts are on the page Settings. */
const sections: Readonly<Record<string, string>> = {
  routes: 'routes',
  schema: 'schemas',
  action: 'actions',
  event: 'events',
  cronjob: 'cronjobs',
  connection: 'connections',
  scope: 'scopes',
}

function stepsOf(path: string): readonly string[] {
  return path.slice(uiPath.length).split('/').filter(Boolean).map(decodeURIComponent)
}

/** Whether a page shows something that a save changed: the page that saved it, its list, and the entries. */
function isAbout({ page, inverse }: LastSaved, [section = '', entry]: readonly string[]): boolean {
  const [savedSection, savedEntry] = stepsOf(page)
  if (section === 'changes') return true
  if (section === savedSection && (entry === undefined || entry === savedEntry)) return true
  if (inverse.edits.length === 0) return section === savedSection || (section === 'routes' && entry === undefined)
  return inverse.edits.some(({ at }) => {
    const [kind = '', name = ''] = keysOf(at)
    return section === (sections[kind] ?? 'settings') && (entry === undefined || entry === name)
  })
}

/** What a save changed: entries of waypost.yml such as `GET /task`, or files. */
function namesOf({ inverse: { edits, files } }: LastSaved): readonly string[] {
  const entries = edits.map(({ at }) => {
    const [kind = '', name, part, method] = keysOf(at)
    return kind === 'routes' && part === 'methods' && method !== undefined ? `${method} ${name}` : (name ?? kind)
  })
  const names = entries.length > 0 ? entries : files.map(({ file }) => file.split('/').at(-1) ?? file)
  return [...new Set(names)]
}
