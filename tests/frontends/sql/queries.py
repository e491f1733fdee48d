"""Queries that people write, over a schema of a shop and one of concerts: each is to be accepted.

``?`` before a query: SQLite alone; ``$``: PostgreSQL alone; others are both's.
"""

# ruff: noqa: E501 - a query is one line

from __future__ import annotations

SHOP = {
    "customers": {
        "id": "integer",
        "name": "text",
        "city": "text",
        "country": "text",
        "created_at": "timestamp",
    },
    "orders": {
        "id": "integer",
        "customer_id": "integer",
        "placed_at": "timestamp",
        "status": "text",
        "total": "numeric",
    },
    "order_items": {
        "order_id": "integer",
        "product_id": "integer",
        "quantity": "integer",
        "unit_price": "numeric",
        "discount": "numeric",
    },
    "products": {
        "id": "integer",
        "name": "text",
        "category": "text",
        "price": "numeric",
        "stock": "integer",
    },
}

QUERIES = """
SELECT name FROM customers
SELECT * FROM customers
select name, city from customers where country = 'France'
SELECT DISTINCT city FROM customers
SELECT DISTINCT country FROM customers ORDER BY country
SELECT count(*) FROM orders
SELECT COUNT(DISTINCT customer_id) FROM orders
SELECT avg(price), min(price), max(price) FROM products
SELECT sum(quantity * unit_price) FROM order_items
SELECT sum(unit_price * quantity * (1 - discount)) AS revenue FROM order_items
SELECT name FROM products WHERE price > 100
SELECT name FROM products WHERE price BETWEEN 10 AND 20
SELECT name FROM products WHERE price NOT BETWEEN 10 AND 20 ORDER BY price
SELECT name FROM products WHERE name LIKE '%phone%'
SELECT name FROM products WHERE name NOT LIKE 'A%' AND stock > 0
SELECT name FROM products WHERE category IN ('toys', 'books')
SELECT name FROM products WHERE category NOT IN ('toys') OR price < 5
SELECT name, price FROM products ORDER BY price DESC LIMIT 10
SELECT name, price FROM products ORDER BY price DESC, name ASC LIMIT 10 OFFSET 20
SELECT name FROM customers WHERE city IS NULL
SELECT name FROM customers WHERE city IS NOT NULL AND NOT (country = 'France' OR country = 'Spain')
SELECT status, count(*) FROM orders GROUP BY status
SELECT status, count(*) FROM orders GROUP BY status ORDER BY count(*) DESC
SELECT status, count(*) AS n FROM orders GROUP BY status ORDER BY n DESC LIMIT 1
SELECT country, count(*) FROM customers GROUP BY country HAVING count(*) > 5
SELECT category, avg(price) AS average FROM products GROUP BY category HAVING avg(price) > 10 ORDER BY average DESC
?SELECT customer_id, sum(total) AS total FROM orders GROUP BY customer_id
SELECT customer_id, status, sum(total) FROM orders GROUP BY customer_id, status
SELECT name FROM customers WHERE id IN (SELECT customer_id FROM orders)
SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE status = 'open')
SELECT name FROM products WHERE price > (SELECT avg(price) FROM products)
SELECT name FROM products WHERE price = (SELECT max(price) FROM products)
SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE orders.customer_id = customers.id)
SELECT c.name FROM customers c WHERE NOT EXISTS (SELECT * FROM orders o WHERE o.customer_id = c.id)
SELECT c.name FROM customers AS c WHERE (SELECT count(*) FROM orders AS o WHERE o.customer_id = c.id) > 3
SELECT c.name, o.total FROM customers c JOIN orders o ON c.id = o.customer_id
SELECT c.name, o.total FROM customers AS c INNER JOIN orders AS o ON o.customer_id = c.id WHERE o.total > 100
SELECT customers.name, orders.total FROM customers JOIN orders ON customers.id = orders.customer_id
SELECT T1.name, count(*) FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id GROUP BY T1.name
SELECT T1.name FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id GROUP BY T1.id, T1.name ORDER BY count(*) DESC LIMIT 1
SELECT T3.name, sum(T2.quantity) FROM orders AS T1 JOIN order_items AS T2 ON T1.id = T2.order_id JOIN products AS T3 ON T2.product_id = T3.id GROUP BY T3.name
SELECT c.name, count(o.id) AS n FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name ORDER BY n DESC
SELECT c.name FROM customers c LEFT OUTER JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL
SELECT c.country, sum(o.total) AS revenue FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.country
SELECT c.country, p.category, sum(oi.quantity) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN order_items oi ON oi.order_id = o.id JOIN products p ON p.id = oi.product_id GROUP BY c.country, p.category
SELECT p.name, oi.quantity FROM products p CROSS JOIN order_items oi
SELECT c.name, o.total FROM customers c, orders o WHERE c.id = o.customer_id AND o.status = 'paid'
SELECT T1.name FROM customers AS T1
SELECT customers.name FROM customers ORDER BY customers.city
SELECT t1.name, t2.name FROM customers t1 JOIN customers t2 ON t1.city = t2.city WHERE t1.id < t2.id
SELECT order_id, quantity FROM order_items JOIN products ON product_id = products.id
SELECT name FROM customers UNION SELECT name FROM products
SELECT city FROM customers WHERE country = 'France' INTERSECT SELECT city FROM customers WHERE country = 'Spain'
SELECT id FROM customers EXCEPT SELECT customer_id FROM orders
SELECT name FROM customers UNION ALL SELECT name FROM products ORDER BY 1 LIMIT 5
SELECT name, CASE WHEN price > 100 THEN 'high' WHEN price > 10 THEN 'middle' ELSE 'low' END AS level FROM products
SELECT sum(CASE WHEN status = 'paid' THEN 1 ELSE 0 END) FROM orders
SELECT sum(CASE WHEN status = 'paid' THEN total ELSE 0 END) / sum(total) FROM orders
SELECT CASE status WHEN 'paid' THEN 1 WHEN 'open' THEN 2 END FROM orders
SELECT CAST(price AS INTEGER) FROM products
SELECT upper(name), length(name) FROM customers
SELECT coalesce(city, 'unknown') FROM customers
SELECT round(price) FROM products
SELECT lower(name) || '@example.com' FROM customers
SELECT price * 1.19 AS gross FROM products
SELECT -stock FROM products
SELECT price - -1 FROM products
SELECT name, rank() OVER (ORDER BY price DESC) FROM products
SELECT name, row_number() OVER (PARTITION BY category ORDER BY price DESC) AS place FROM products
SELECT category, price, avg(price) OVER (PARTITION BY category) FROM products
SELECT placed_at, sum(total) OVER (ORDER BY placed_at) FROM orders
SELECT customer_id, lag(total) OVER (PARTITION BY customer_id ORDER BY placed_at) FROM orders
SELECT count(*) FILTER (WHERE status = 'paid') FROM orders
SELECT max(n) FROM (SELECT avg(total) AS n FROM orders GROUP BY status) AS result WHERE n > 3
SELECT avg(n) FROM (SELECT count(*) AS n FROM orders GROUP BY customer_id) AS result
WITH result AS (SELECT customer_id, sum(total) AS n FROM orders GROUP BY customer_id) SELECT n FROM result WHERE n > 100
WITH result AS (SELECT customer_id, sum(total) AS n FROM orders GROUP BY customer_id) SELECT c.name, result.n FROM customers c JOIN result ON result.customer_id = c.id
SELECT "name" FROM "customers"
SELECT name FROM customers WHERE name = 'O''Hara'
SELECT max(total) - min(total) FROM orders
SELECT category FROM products GROUP BY category HAVING sum(stock) = 0 AND count(*) > 2
SELECT name FROM products WHERE (price > 10 AND stock < 5) OR category = 'toys'
SELECT name FROM products WHERE stock * price > 1000
SELECT p.category, sum(oi.quantity * oi.unit_price) FROM order_items oi JOIN products p ON p.id = oi.product_id GROUP BY p.category
SELECT name FROM products WHERE stock > 0 AND price < 20 ORDER BY stock DESC, price
SELECT count(*), sum(total), avg(total) FROM orders WHERE status = 'paid'
SELECT count(*) FROM customers WHERE city = 'Oslo' OR city = 'Bergen'
SELECT country, city, count(*) FROM customers GROUP BY country, city ORDER BY 3 DESC
SELECT name FROM products WHERE price > 10 AND category IN (SELECT category FROM products GROUP BY category HAVING count(*) > 3)
SELECT o.id FROM orders o WHERE o.total > (SELECT avg(t1.total) FROM orders AS t1)
?SELECT strftime('%Y', placed_at) AS year, count(*) FROM orders GROUP BY strftime('%Y', placed_at)
?SELECT date(placed_at), sum(total) FROM orders GROUP BY 1 ORDER BY 1
?SELECT round(avg(price), 2) FROM products
?SELECT customers.*, orders.total FROM customers JOIN orders ON customers.id = orders.customer_id
?SELECT name FROM customers WHERE created_at >= '2024-01-01' AND created_at < date('now')
?SELECT group_concat(name, ', ') FROM products
?SELECT ifnull(city, '') FROM customers WHERE name GLOB 'A*'
?SELECT iif(stock > 0, 'yes', 'no') FROM products
?SELECT julianday('now') - julianday(placed_at) FROM orders
?SELECT stock % 2 FROM products
$SELECT date_trunc('month', placed_at) AS month, sum(total) FROM orders GROUP BY 1 ORDER BY 1
$SELECT EXTRACT(YEAR FROM placed_at), count(*) FROM orders GROUP BY 1
$SELECT name FROM customers WHERE created_at >= DATE '2024-01-01'
$SELECT name FROM customers WHERE created_at > now() - INTERVAL '30 days'
$SELECT string_agg(name, ', ') FROM products
$SELECT round(CAST(avg(price) AS numeric), 2) FROM products
$SELECT name FROM customers WHERE name ILIKE 'a%'
$SELECT placed_at::date, count(*) FROM orders GROUP BY 1
$SELECT o.id FROM customers c RIGHT JOIN orders o ON o.customer_id = c.id
$SELECT name FROM customers WHERE created_at BETWEEN '2024-01-01' AND '2024-12-31 23:59:59'
""".strip().splitlines()


def queries_of(dialect: str) -> list[str]:
    """Those of a dialect."""
    mark, other = ("?", "$") if dialect == "sqlite" else ("$", "?")
    return [query.removeprefix(mark) for query in QUERIES if not query.startswith(other)]
