import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { announce } from '../components/announce.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { useStore } from '../session/store.ts'
import { editing as texts } from '../strings/editing.ts'
import { lastSave, undoLastSave } from './draft.ts'

/** Says when something was saved last in this window, and undoes it. */
export function LastSave() {
  const saved = useStore(lastSave)
  const queries = useQueryClient()
  const undoing = useMutation({
    mutationFn: () => undoLastSave(queries),
    onSuccess: () => announce(texts.undone),
  })
  if (saved === undefined) return null
  return (
    <div className="save-row">
      <p className="save-state soft" role="status">
        {texts.savedAt(new Date(saved.saved_at), saved.changes)}
      </p>
      <Button
        variant="default"
        leftSection={<Undo2 size={14} aria-hidden />}
        loading={undoing.isPending}
        onClick={() => undoing.mutate()}
      >
        {texts.undo}
      </Button>
      {undoing.isError ? <ProblemAlert error={undoing.error} /> : null}
    </div>
  )
}
