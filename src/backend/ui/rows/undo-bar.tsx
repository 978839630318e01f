import { ActionIcon, Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Undo2, X } from 'lucide-react'
import { Problem } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { nameRow, type Description, type TablePlace } from './row-values.ts'
import { undoTexts as texts } from './row-texts.ts'
import { undoChange, type RowChange } from './undo.ts'

interface UndoBarProps {
  readonly place: TablePlace
  readonly description: Description
  readonly change: RowChange
  onUndone(): void
  onDismiss(): void
}

/** Says what was changed last, and undoes it. */
export function UndoBar({ place, description, change, onUndone, onDismiss }: UndoBarProps) {
  const undoing = useMutation({
    mutationFn: () => undoChange(place, description, change),
    onSuccess() {
      announce(texts.undone)
      onUndone()
    },
  })
  const key = nameRow(description, change.row)
  const isLost = undoing.error instanceof Problem && [404, 412].includes(undoing.error.status)
  return (
    <div className="undo-bar" role="group" aria-label={texts.undo}>
      <p dir="auto">{change.kind === 'change' ? texts.change(key, change.columns) : texts[change.kind](key)}</p>
      {isLost ? <p role="alert">{texts.lost}</p> : undoing.isError ? <ProblemAlert error={undoing.error} /> : null}
      {isLost ? null : (
        <Button
          variant="default"
          leftSection={<Undo2 size={14} aria-hidden />}
          loading={undoing.isPending}
          onClick={() => undoing.mutate()}
        >
          {texts.undo}
        </Button>
      )}
      <ActionIcon aria-label={texts.dismiss} onClick={onDismiss}>
        <X size={14} aria-hidden />
      </ActionIcon>
    </div>
  )
}
