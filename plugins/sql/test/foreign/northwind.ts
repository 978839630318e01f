import type { ForeignProgram } from './foreign-table.ts'

export const northwind: ForeignProgram = {
  sqlite: [
    {
      // Columns for times have dates.
      name: 'Orders',
      schema: [
        `CREATE TABLE [Orders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [CustomerID] TEXT, [OrderDate] DATETIME,
          [ShippedDate] DATETIME, [Freight] NUMERIC DEFAULT 0, [Picture] BLOB)`,
        `INSERT INTO Orders VALUES (10248, 'VINET', '2016-07-04', '2016-07-16', 32.38, x'00ff'), (10249, 'TOMSP', '2016-07-05', NULL, 11.61, NULL),
          (10250, 'HANAR', '2016-07-04', '2016-07-12', 65.83, NULL)`,
      ],
      post: { CustomerID: 'VINET', OrderDate: '2016-07-06', Freight: 1.5 },
    },
    {
      // The larger file: generated orders have times.
      name: 'MoreOrders',
      schema: [
        `CREATE TABLE [MoreOrders] ([OrderID] INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, [OrderDate] DATETIME)`,
        `INSERT INTO MoreOrders VALUES (10248, '2016-07-04'), (11078, '2016-07-04 00:00:01'), (11079, '2012-10-15 22:08:23'), (11080, NULL), (11081, '2016-07-03 23:59:59')`,
      ],
      post: { OrderDate: '2016-07-05T00:00:00.000Z' },
      written: { OrderDate: 'YYYY-MM-DD HH:MM:SS' },
    },
    {
      name: 'Order Details',
      schema: [
        `CREATE TABLE [Order Details] ([OrderID] INTEGER NOT NULL, [ProductID] INTEGER NOT NULL, [UnitPrice] NUMERIC NOT NULL DEFAULT 0, [Quantity] INTEGER NOT NULL DEFAULT 1,
          [Discount] REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID", "ProductID"), CHECK ([Discount] >= (0) and [Discount] <= (1)))`,
        'INSERT INTO [Order Details] VALUES (10248, 11, 14, 12, 0.0), (10248, 42, 9.8, 10, 0.05), (10249, 11, 14, 12, 0.15)',
      ],
      post: { OrderID: 10249, ProductID: 42, UnitPrice: 18.6 },
    },
    {
      // The program gives the key.
      name: 'Customers',
      schema: [
        `CREATE TABLE [Customers] ([CustomerID] TEXT, [CompanyName] TEXT, [City] TEXT, PRIMARY KEY (\`CustomerID\`))`,
        `INSERT INTO Customers VALUES ('ALFKI', 'Alfreds Futterkiste', 'Berlin'), ('ANATR', 'Ana Trujillo', NULL), ('BLONP', 'Blondesddsl père et fils', 'Strasbourg')`,
      ],
      post: { CustomerID: 'A/B C', CompanyName: 'x', City: 'y' },
    },
  ],
  postgresql: [
    {
      name: 'orders',
      schema: [
        `CREATE TABLE orders (order_id smallint NOT NULL PRIMARY KEY, customer_id character varying(5), code character(5), order_date date, freight real,
          picture bytea)`,
        `INSERT INTO orders VALUES (10248, 'VINET', 'ab', '1996-07-04', 32.380001, '\\x00ff'), (10249, 'TOMSP', 'abcde', '1996-07-05', 11.6099997, NULL),
          (10250, NULL, NULL, '1996-07-04', NULL, NULL)`,
      ],
      post: { order_id: 7, customer_id: 'VINET', order_date: '1996-07-05', freight: 0.5 },
    },
    {
      name: 'order_details',
      schema: [
        `CREATE TABLE order_details (order_id smallint NOT NULL, product_id smallint NOT NULL, unit_price real NOT NULL, quantity smallint NOT NULL, discount real NOT NULL,
          CONSTRAINT pk_order_details PRIMARY KEY (order_id, product_id))`,
        `INSERT INTO order_details VALUES (10248, 11, 14, 12, 0), (10248, 42, 9.8, 10, 0.05), (10249, 11, 14, 12, 0.15)`,
      ],
      post: { order_id: 10249, product_id: 42, unit_price: 18.6, quantity: 2, discount: 0.1 },
    },
  ],
}
