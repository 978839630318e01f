import { places } from '../portal/reference/places.ts'
import type { PageBase } from '../shell/page-router.tsx'
import { pagesTexts } from '../portal/shell-texts.ts'

export const pages: readonly PageBase[] = [
  { path: places.list, title: pagesTexts.reference, load: () => import('../portal/pages/reference.tsx') },
  {
    path: places.operation,
    title: pagesTexts.operation,
    parent: places.list,
    load: () => import('../portal/pages/operation.tsx'),
  },
]
