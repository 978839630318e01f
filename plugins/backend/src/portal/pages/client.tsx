import { PageHeader } from '../../components/page-header.tsx'
import { shell } from '../strings/shell.ts'

export function Page() {
  return <PageHeader title={shell.pages.client} />
}
