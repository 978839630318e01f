import { Button, Checkbox, Group } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { FolderOpen } from 'lucide-react'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { Problem } from '../api/send.ts'
import { announce } from '../components/announce.tsx'
import { State } from '../components/badge.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ProblemAlert } from '../components/problem.tsx'
import { DiffView } from '../edit/diff-view.tsx'
import type { Diagnostic } from '../edit/draft.ts'
import { saveChange } from '../edit/save-change.ts'
import { Refused } from '../edit/save-bar.tsx'
import { readFolder, type FolderFiles } from './read-folder.ts'
import { confirmTexts } from '../components/dialog-texts.ts'
import { countOf } from '../components/format.ts'
import { editingTexts } from '../edit/edit-texts.ts'
import { changesTexts } from '../pages/change-texts.ts'

const texts = {
  title: 'Import files',
  choose: 'Choose a folder',
  text: 'Reads the definition files of a folder: waypost.yml, the files that it includes, migrations and tables.json. Code, package.json and .env are skipped.',
  skipped: (files: number) => `${countOf(files, 'other file was', 'other files were')} skipped.`,
  none: 'The folder has no definition files. Choose the folder that contains waypost.yml.',
  tooLarge: (file: string) => `${file} is larger than 1 MB and was skipped.`,
  same: 'No file differs.',
  differences: (files: number) => countOf(files, 'file differs', 'files differ'),
  removes: (files: number) => `Deletes ${countOf(files, 'file')}.`,
  remove: 'Delete files that are not in this folder',
  apply: (files: number) => `Import ${countOf(files, 'file')}`,
  applied: (files: number) => `${countOf(files, 'file')} imported`,
} as const

const tones = { added: 'good', changed: 'info', removed: 'bad' } as const

interface Difference {
  readonly file: string
  readonly status: keyof typeof tones
  readonly before: string | null
  readonly after: string | null
}

/** Reads the definition files of a folder, shows how they differ from the draft, and saves them as one change. */
export function ImportFiles({ onClose }: { onClose(): void }) {
  const queries = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const [folder, setFolder] = useState<FolderFiles>()
  const [isRemoving, setRemoving] = useState(false)
  const current = useQuery({
    queryKey: ['draft', 'files'],
    queryFn: ({ signal }) => call('GET /draft/files', { query: { of: 'draft' } }, signal),
    gcTime: 0,
  })
  const all = folder === undefined || current.data === undefined ? undefined : compare(current.data.entry, folder.texts)
  const removed = all?.filter(({ status }) => status === 'removed') ?? []
  const shown = all?.filter(({ status }) => isRemoving || status !== 'removed') ?? []
  const applying = useMutation({
    async mutationFn(withErrors: boolean) {
      const files = shown.map(({ file, after }) => ({ file, text: after }))
      await saveChange(queries, { files }, { withErrors })
      announce(texts.applied(files.length))
    },
    onSuccess: onClose,
  })
  const refused = applying.error instanceof Problem ? (applying.error.body['diagnostics'] as Diagnostic[]) : undefined
  const read = async (files: FileList | null) => {
    if (files === null || files.length === 0) return
    applying.reset()
    setFolder(await readFolder([...files]))
  }
  return (
    <Dialog title={texts.title} size={880} onClose={onClose}>
      <div className="stack">
        <p className="soft">{texts.text}</p>
        <div>
          <input
            ref={input}
            type="file"
            multiple
            hidden
            data-testid="folder"
            {...{ webkitdirectory: '' }}
            onChange={(event) => void read(event.currentTarget.files)}
          />
          <Button
            variant={folder === undefined ? 'filled' : 'default'}
            leftSection={<FolderOpen size={14} aria-hidden />}
            onClick={() => input.current?.click()}
          >
            {texts.choose}
          </Button>
        </div>
        {current.isError ? <ProblemAlert error={current.error} /> : null}
        {folder === undefined || all === undefined ? null : (
          <Differences
            folder={folder}
            shown={shown}
            removed={removed.length}
            isRemoving={isRemoving}
            onRemoving={setRemoving}
          />
        )}
        {refused === undefined ? (
          applying.isError ? (
            <ProblemAlert error={applying.error} />
          ) : null
        ) : (
          <Refused diagnostics={refused} />
        )}
        {folder === undefined || shown.length === 0 || folder.texts.size === 0 ? null : (
          <Group justify="flex-end" gap="xs" className="form-actions">
            <Button variant="default" onClick={onClose}>
              {confirmTexts.cancel}
            </Button>
            {refused === undefined ? null : (
              <Button variant="default" loading={applying.isPending} onClick={() => applying.mutate(true)}>
                {editingTexts.saveAnyway}
              </Button>
            )}
            <Button loading={applying.isPending} onClick={() => applying.mutate(false)}>
              {texts.apply(shown.length)}
            </Button>
          </Group>
        )}
      </div>
    </Dialog>
  )
}

interface DifferencesProps {
  readonly folder: FolderFiles
  /** What the import would change. */
  readonly shown: readonly Difference[]
  /** The number of files that the folder lacks. */
  readonly removed: number
  readonly isRemoving: boolean
  onRemoving(isRemoving: boolean): void
}

/** How the files of a folder differ from the draft. */
function Differences({ folder, shown, removed, isRemoving, onRemoving }: DifferencesProps) {
  return (
    <>
      {folder.tooLarge.map((file) => (
        <p key={file} className="warnings">
          {texts.tooLarge(file)}
        </p>
      ))}
      {folder.texts.size === 0 ? (
        <p role="alert" className="warnings">
          {texts.none}
        </p>
      ) : (
        <p role="status">
          {shown.length === 0 && removed === 0 ? texts.same : texts.differences(shown.length)}
          {folder.skipped === 0 ? null : <span className="soft"> {texts.skipped(folder.skipped)}</span>}
        </p>
      )}
      {folder.texts.size === 0 || removed === 0 ? null : (
        <Checkbox
          label={texts.remove}
          description={texts.removes(removed)}
          checked={isRemoving}
          onChange={(event) => onRemoving(event.currentTarget.checked)}
        />
      )}
      {folder.texts.size === 0
        ? null
        : shown.map(({ file, status, before, after }) => (
            <details key={file} className="import-file" open={shown.length < 5}>
              <summary>
                <bdi translate="no" className="mono">
                  {file}
                </bdi>{' '}
                <State tone={tones[status]}>{changesTexts.status[status]}</State>
              </summary>
              <DiffView before={before ?? ''} after={after ?? ''} label={file} />
            </details>
          ))}
    </>
  )
}

function compare(
  files: readonly { readonly file: string; readonly text: string }[],
  texts: ReadonlyMap<string, string>,
): readonly Difference[] {
  const before = new Map(files.map(({ file, text }) => [file, text]))
  const names = [...new Set([...texts.keys(), ...before.keys()])].toSorted()
  return names.flatMap((file) => {
    const [old, next] = [before.get(file) ?? null, texts.get(file) ?? null]
    if (old === next) return []
    return [{ file, before: old, after: next, status: old === null ? 'added' : next === null ? 'removed' : 'changed' }]
  })
}
