import { shell } from '../portal/strings/shell.ts'
import { places } from '../portal/reference/places.ts'
import type { PageBase } from '../shell/page-router.tsx'

export const pages: readonly PageBase[] = [
  { path: places.list, title: shell.pages.reference, load: () => import('../portal/pages/reference.tsx') },
  {
    path: places.operation,
    title: shell.pages.operation,
    parent: places.list,
    load: () => import('../portal/pages/operation.tsx'),
  },
]
