import { useParams } from '@tanstack/react-router'
import { PageHeader } from '../components/page-header.tsx'
import { EditorLink } from '../edit/editor-link.tsx'
import { FileEditor } from '../edit/yaml-tab.tsx'

export function Page() {
  const { file = '' } = useParams({ strict: false })
  return (
    <>
      <PageHeader title={<span className="file-title">{file}</span>}>
        <EditorLink file={file} />
      </PageHeader>
      <FileEditor file={file} key={file} />
    </>
  )
}
