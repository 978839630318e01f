import { at, type ForeignProgram } from './foreign-table.ts'

export const chinook: ForeignProgram = {
  sqlite: [
    {
      name: 'Invoice',
      schema: [
        `CREATE TABLE [Invoice] ([InvoiceId] INTEGER NOT NULL, [CustomerId] INTEGER NOT NULL, [InvoiceDate] DATETIME NOT NULL,
          [BillingCity] NVARCHAR(40), [Total] NUMERIC(10,2) NOT NULL, CONSTRAINT [PK_Invoice] PRIMARY KEY ([InvoiceId]))`,
        `INSERT INTO Invoice VALUES (1, 2, '2009-01-01 00:00:00', 'Stuttgart', 1.98), (2, 4, '2009-01-02 00:00:00', 'Oslo', 3.96),
          (3, 2, '2009-01-01 00:00:00', NULL, 13.86), (4, 2, '2009-01-01 00:00:01', 'Århus', 3)`,
      ],
      post: { CustomerId: 2, InvoiceDate: at, BillingCity: 'Köln', Total: 5.94 },
    },
    {
      name: 'PlaylistTrack',
      schema: [
        `CREATE TABLE [PlaylistTrack] ([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL, CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]))`,
        'INSERT INTO PlaylistTrack VALUES (1, 3402), (1, 3389), (8, 3402)',
      ],
      post: { PlaylistId: 8, TrackId: 3389 },
    },
  ],
  postgresql: [
    {
      // The program gives the key.
      name: 'invoice',
      schema: [
        `CREATE TABLE invoice (invoice_id INT NOT NULL, customer_id INT NOT NULL, invoice_date TIMESTAMP NOT NULL, billing_city VARCHAR(40),
          total NUMERIC(10,2) NOT NULL, CONSTRAINT invoice_pkey PRIMARY KEY (invoice_id))`,
        `INSERT INTO invoice VALUES (1, 2, '2021/1/1', 'Stuttgart', 1.98), (2, 4, '2021/1/2', NULL, 3.96), (3, 2, '2021/1/1', 'Oslo', 13.86)`,
      ],
      post: { invoice_id: 9, customer_id: 2, invoice_date: at, total: 5.94 },
    },
  ],
}
