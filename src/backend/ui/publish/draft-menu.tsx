import { Menu } from '@mantine/core'
import { Suspense, useState } from 'react'
import { lazyPart } from '../components/lazy-part.tsx'
import { MoreMenu } from '../components/more-menu.tsx'
import { announce } from '../components/announce.tsx'
import { describeProblem } from '../components/problem.tsx'
import { useHasDraft, type Draft } from '../edit/draft.ts'

const downloadTexts = {
  failed: 'The files could not be loaded.',
  done: 'Downloaded',
} as const

const texts = {
  label: 'More actions',
  import: 'Import files',
  download: { folder: 'Download the files', server: 'Download the draft' },
  downloadActive: 'Download the published files',
} as const

const Import = lazyPart(() => import('./import-files.tsx'), 'ImportFiles')

/** Import and download of the definition files. */
export function DraftMenu({ draft }: { readonly draft: Draft }) {
  const [isImporting, setImporting] = useState(false)
  const canEdit = useHasDraft()
  const download = async (of: 'draft' | 'active') => {
    try {
      const { downloadFiles } = await import('./download-files.ts')
      await downloadFiles(of)
      announce(downloadTexts.done)
    } catch (error) {
      announce(`${downloadTexts.failed} ${describeProblem(error).message}`)
    }
  }
  return (
    <>
      <MoreMenu label={texts.label}>
        {canEdit ? <Menu.Item onClick={() => setImporting(true)}>{texts.import}</Menu.Item> : null}
        <Menu.Item onClick={() => void download('draft')}>{texts.download[draft.mode]}</Menu.Item>
        {draft.mode === 'folder' || draft.base.name === '' ? null : (
          <Menu.Item onClick={() => void download('active')}>{texts.downloadActive}</Menu.Item>
        )}
      </MoreMenu>
      <Suspense>{isImporting ? <Import onClose={() => setImporting(false)} /> : null}</Suspense>
    </>
  )
}
